"""Output tokens that a request has without having sampled them: from the scheduler to the model runner.

To vLLM's scheduler they are like the rest of a prompt: tokens to compute, none of them to sample. The model runner
keeps its own copy of each request's tokens and has only seen what it sampled, so the scheduler sends it the others.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from vllm.v1.core.sched.output import CachedRequestData


@dataclass
class KnownTokensRequestData(CachedRequestData):  # type: ignore[misc]
    """vLLM's message about the running requests, with, by request, tokens to append to its output: of requests that the
    runner has, and ``openings`` of those that are new in the same step."""

    known_token_ids: dict[str, list[int]] = field(default_factory=dict)
    openings: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        data: CachedRequestData,
        *,
        known: dict[str, list[int]] | None = None,
        openings: dict[str, list[int]] | None = None,
    ) -> KnownTokensRequestData:
        """The same message with one of the two added."""
        values = {f.name: getattr(data, f.name) for f in fields(data)}
        if known is not None:
            values["known_token_ids"] = known
        if openings is not None:
            values["openings"] = openings
        return cls(**values)


class KnownTokensRunner:
    """For vLLM's V1 model runners (CPU and GPU): appends the known tokens before a step is prepared."""

    requests: dict[str, Any]
    input_batch: Any

    def _update_states(self, scheduler_output: Any) -> Any:
        data = scheduler_output.scheduled_cached_reqs
        known = isinstance(data, KnownTokensRequestData)
        for request_id, tokens in data.known_token_ids.items() if known else ():
            self._append(request_id, tokens)
        result = super()._update_states(scheduler_output)  # type: ignore[misc]
        for request_id, tokens in data.openings.items() if known else ():
            self._append(request_id, tokens)
        return result

    def _append(self, request_id: str, tokens: list[int]) -> None:
        self.requests[request_id].output_token_ids.extend(tokens)
        batch = self.input_batch
        row = batch.req_id_to_index.get(request_id)
        if row is None:
            # Preempted, or left out of the last step: vLLM puts it back with all of its tokens.
            return
        start = batch.num_tokens_no_spec[row]
        end = start + len(tokens)
        batch.token_ids_cpu[row, start:end] = tokens
        batch.is_token_ids[row, start:end] = True
        batch.num_tokens_no_spec[row] = end
