"""The parts of a running server that its routes share."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field

from starlette.datastructures import State

from server.admission import Admission
from server.asking import Ask
from server.compiler import CompileFailed, Compiler
from server.engine_client import EngineClient, EngineDeadError, EngineRequestError
from server.errors import ApiError, GuaranteeError, internal, unavailable
from server.generation import Choice
from server.metrics import Metrics
from server.plan import Plan
from server.planning import Planner, call_format
from server.request_id import request_id
from server.settings import Settings
from server.shared_metrics import SharedMetrics

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Serving:
    """Everything behind the routes. ``state`` is the app's: its ``engine`` is ``None`` while the model loads, and its
    ``draining`` is true once the server stops taking requests."""

    settings: Settings
    state: State
    metrics: Metrics
    admission: Admission
    compiler: Compiler
    shared_metrics: SharedMetrics | None = None
    """Where several API processes share one engine: the way to the others' metrics."""
    created: int = field(default_factory=lambda: int(time.time()))
    _planner: Planner | None = None
    _planned_for: EngineClient | None = None

    def engine(self) -> EngineClient:
        """The engine. Raises ApiError 503 while there is none, and when the server is stopping."""
        if self.state.draining:
            raise unavailable("The server is stopping.")
        engine: EngineClient | None = self.state.engine
        if engine is None:
            raise unavailable("The model is still loading.")
        return engine

    async def on_engine(self, engine: EngineClient) -> None:
        """Take the engine that has finished loading; from now on the server is ready. Raises ValueError when its call
        format does not exist."""
        self.state.format_name = self._planner_for(engine).format_name
        await self.compiler.warm_up()
        self.state.engine = engine

    async def plan(self, ask: Ask, request_id: str) -> Plan:
        """Raises ApiError."""
        plan = await self._planner_for(self.engine()).plan(ask, request_id)
        self.metrics.prompt_tokens.inc(len(plan.prompt))
        return plan

    def plan_at_once(self, ask: Ask, request_id: str) -> Plan | None:
        """See ``Planner.at_once``. Raises ApiError."""
        plan = self._planner_for(self.engine()).at_once(ask, request_id)
        if plan is not None:
            self.metrics.prompt_tokens.inc(len(plan.prompt))
        return plan

    def choices(self, plan: Plan, *, asked_at: float, hold: bool) -> list[Choice]:
        """The plan's choices, ready to run. ``hold``: nobody sees anything before the end."""
        engine = self.engine()
        return [
            Choice(
                engine,
                plan,
                number,
                self.metrics,
                hold=hold,
                max_retries=self.settings.max_retries,
                asked_at=asked_at,
            )
            for number in range(plan.n)
        ]

    def _planner_for(self, engine: EngineClient) -> Planner:
        if self._planner is None or self._planned_for is not engine:
            fmt = call_format(engine, self.settings.tool_format)
            self._planner = Planner(
                engine,
                self.compiler,
                fmt=fmt,
                undeclared=self.settings.undeclared_keys,
                refused_tools=self.settings.refused_tools,
            )
            self._planned_for = engine
        return self._planner

    async def close(self) -> None:
        await self.compiler.close()
        if self._planner is not None:
            self._planner.close()


def api_error(fault: BaseException) -> ApiError:
    """What a client is told about ``fault``. Details of faults that are not the client's go to the log only."""
    match fault:
        case ApiError():
            return fault
        case EngineDeadError():
            return unavailable("The engine has stopped; nothing can be generated.")
        case EngineRequestError():
            log.error("%s: the engine failed a request: %s", request_id.get(), fault)
            return internal(f"The engine failed this request: {str(fault)[:500]}", "engine_error")
        case CompileFailed():
            log.error("%s: a schema could not be compiled by a fault of the compiler:\n%s", request_id.get(), fault)
            return internal("The server failed to compile the schemas of this request.", "internal_error")
        case GuaranteeError():
            log.error("%s: an answer broke its contract and was not shown: %s", request_id.get(), fault)
            return internal(f"No valid answer was generated: {str(fault)[:500]}", "guarantee_violation")
        case _:
            log.error("%s: internal error", request_id.get(), exc_info=fault)
            return internal("The server had an internal error.", "internal_error")
