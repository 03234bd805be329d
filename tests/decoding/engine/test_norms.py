"""The C++ norms compute what vLLM's own operations do."""

from __future__ import annotations

import pytest

pytest.importorskip("vllm.v1.worker.cpu_worker", reason="needs vLLM's CPU build")

import torch
from vllm import ir

from decoding.engine import norms

EPSILON = 1e-5


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("rows", [1, 7, 64])
def test_norms_agree_with_the_native_ones(rows: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(rows)
    x, residual = (torch.randn(rows, 576, generator=generator).to(dtype) for _ in range(2))
    weight = torch.randn(576, generator=generator).to(dtype)
    close = {"rtol": 2e-2, "atol": 2e-2} if dtype == torch.bfloat16 else {"rtol": 1e-4, "atol": 1e-5}

    expected = ir.ops.rms_norm.impls["native"].impl_fn(x, weight, EPSILON)
    assert ir.ops.rms_norm.impls[norms.PROVIDER].supported
    torch.testing.assert_close(norms.rms_norm.impl_fn(x, weight, EPSILON), expected, **close)

    wanted, wanted_sum = ir.ops.fused_add_rms_norm.impls["native"].impl_fn(x, residual, weight, EPSILON)
    got, total = norms.fused_add_rms_norm.impl_fn(x.clone(), residual.clone(), weight, EPSILON)
    torch.testing.assert_close(got, wanted, **close)
    torch.testing.assert_close(total, wanted_sum, **close)


def test_a_row_s_norm_does_not_depend_on_the_others() -> None:
    """Answers must not depend on who else is served."""
    x = torch.randn(16, 576).to(torch.bfloat16)
    weight = torch.randn(576).to(torch.bfloat16)
    together = norms.rms_norm.impl_fn(x, weight, EPSILON)
    alone = torch.cat([norms.rms_norm.impl_fn(row[None].clone(), weight, EPSILON) for row in x])
    assert torch.equal(together, alone)


def test_arguments_that_the_kernels_do_not_take_are_refused() -> None:
    x = torch.randn(2, 64)
    fits = ir.ops.rms_norm.impls[norms.PROVIDER].supports_args
    assert fits is not None
    assert fits(x, torch.ones(64), EPSILON)
    assert not fits(x, None, EPSILON)
    assert not fits(x, torch.ones(64), EPSILON, 32)
    assert not fits(x, torch.ones(64, dtype=torch.bfloat16), EPSILON)
    assert not fits(x.T, torch.ones(2), EPSILON)
