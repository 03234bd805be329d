"""One engine core for several server processes, by vLLM's own split of client and engine.

Every process has a pair of sockets of its own to the core, bound before any of them starts; its requests carry its
number (``EngineCoreRequest.client_index``), and the core answers each by its own socket.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vllm.config import VllmConfig
from vllm.v1.engine.async_llm import AsyncLLM
from vllm.v1.engine.utils import bind_engine_zmq_listeners, launch_core_engines
from vllm.v1.executor.abstract import Executor


@dataclass(frozen=True, slots=True)
class Seat:
    """One process's place at the core. Can be handed to a process that is being spawned, sockets and all."""

    config: VllmConfig
    index: int
    count: int
    addresses: dict[str, Any]
    """In the words of vLLM's ``client_addresses``."""

    def close(self) -> None:
        """Close this process's ends of the sockets, once another one has the seat."""
        for name in ("input_listener", "output_listener"):
            self.addresses[name].close()


def launch(config: VllmConfig, count: int) -> tuple[list[Seat], Any]:
    """Start the engine core and wait until it is up. Returns the seats of ``count`` processes, and what owns the core's
    process. Raises what vLLM raises for a core that does not come up."""
    listeners = bind_engine_zmq_listeners(config, count)
    try:
        with launch_core_engines(config, Executor.get_class(config), True, listeners.addresses) as launched:
            pass  # leaving waits until the core has answered
    except BaseException:
        for listener in (*listeners.inputs, *listeners.outputs):
            listener.cleanup()
        raise
    seats = []
    for index, (incoming, outgoing) in enumerate(zip(listeners.inputs, listeners.outputs, strict=True)):
        addresses = {
            "input_address": incoming.address,
            "output_address": outgoing.address,
            "input_listener": incoming.socket,
            "output_listener": outgoing.socket,
        }
        seats.append(Seat(config, index, count, addresses))
    # The seats own the sockets now; vLLM's object would close them when it is collected.
    listeners.inputs.clear()
    listeners.outputs.clear()
    return seats, launched.engine_manager


def alone(config: VllmConfig, stat_loggers: Sequence[Any]) -> AsyncLLM:
    """A core of this process's own, and its client. Raises what vLLM raises for a core that does not come up."""
    # Without ``disable_log_stats`` vLLM adds a logger of its own, which counts for a log that nobody writes.
    return AsyncLLM.from_vllm_config(config, stat_loggers=list(stat_loggers), disable_log_stats=True)


def join(seat: Seat, stat_loggers: Sequence[Any]) -> AsyncLLM:
    """This process's client of the core."""
    return AsyncLLM.from_vllm_config(
        seat.config,
        stat_loggers=list(stat_loggers),
        disable_log_stats=True,
        client_addresses=dict(seat.addresses),
        client_count=seat.count,
        client_index=seat.index,
    )


def own(llm: AsyncLLM, manager: Any) -> None:
    """Let this client watch the core's process, and end it when it is shut down, as if it had started it alone."""
    llm.engine_core.resources.engine_manager = manager
    llm.engine_core.start_engine_core_monitor()


def give_up(llm: AsyncLLM) -> None:
    """The core is gone, as its owner has seen: all of this client's requests fail, now and from now on."""
    llm.engine_core.resources.engine_dead = True
    llm.engine_core.shutdown()
