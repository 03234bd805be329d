"""RMS norms for CPUs: vLLM's own C++ kernels, offered to its operator registry.

vLLM 0.32 has them in its CPU build and registers them for GPUs only; a CPU gets PyTorch operations one by one, ten
times as slow on a few rows (61 norms a pass in the embedded model, about a tenth of its time).
"""

from __future__ import annotations

import torch
from torch import Tensor
from vllm import ir
from vllm.config import VllmConfig
from vllm.platforms import current_platform

PROVIDER = "strictcall_cpu"

current_platform.import_kernels()
_AVAILABLE = current_platform.is_cpu() and all(
    hasattr(torch.ops._C, name) for name in ("rms_norm", "fused_add_rms_norm")
)


def _fits(x: Tensor, weight: Tensor | None, variance_size: int | None) -> bool:
    return variance_size is None and weight is not None and weight.dtype == x.dtype and x.is_contiguous()


def _norm_fits(x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None) -> bool:
    return _fits(x, weight, variance_size)


def _sum_fits(
    x: Tensor, x_residual: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> bool:
    return _fits(x, weight, variance_size) and x_residual.dtype == x.dtype and x_residual.is_contiguous()


@ir.ops.rms_norm.register_impl(PROVIDER, supported=_AVAILABLE, supports_args=_norm_fits)  # type: ignore[untyped-decorator]
def rms_norm(x: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None) -> Tensor:
    """``weight * x / sqrt(mean(x²) + epsilon)`` over the last axis (Zhang and Sennrich 2019, arXiv 1910.07467)."""
    out = torch.empty_like(x)
    torch.ops._C.rms_norm(out, x, weight, epsilon)
    return out


@ir.ops.fused_add_rms_norm.register_impl(PROVIDER, supported=_AVAILABLE, supports_args=_sum_fits, inplace=True)  # type: ignore[untyped-decorator]
def fused_add_rms_norm(
    x: Tensor, x_residual: Tensor, weight: Tensor | None, epsilon: float, variance_size: int | None = None
) -> tuple[Tensor, Tensor]:
    """``rms_norm(x + x_residual)`` and the sum; both are written over the arguments."""
    torch.ops._C.fused_add_rms_norm(x, x_residual, weight, epsilon)
    return x, x_residual


def prefer_kernels(config: VllmConfig) -> None:
    """Put the kernels first, if this build of vLLM has them and the user has not chosen."""
    order = config.kernel_config.ir_op_priority
    for providers in (order.rms_norm, order.fused_add_rms_norm) if _AVAILABLE else ():
        if providers[:1] in ([], ["native"]):
            providers.insert(0, PROVIDER)
