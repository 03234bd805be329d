"""What the readers of arguments share that go from decision to decision."""

from __future__ import annotations

from abc import ABC, abstractmethod

from decoding.spellings.members import NoArgumentsError


class SteppingReader(ABC):
    """Reads arguments step by step: the same events however the text is split, because a step that lacks text waits.

    ``complete``: the arguments have ended. ``failed``: what was read is none; what came of it is to be dropped.
    """

    def __init__(self) -> None:
        self._out: list[str] = []
        self.complete = False
        self.failed = False

    def read(self, text: str, at: int) -> tuple[int, str]:
        """Read ``text`` from ``at`` as far as it goes: where to go on, and the JSON that came of it."""
        try:
            while at < len(text) and not self.complete and (after := self._step(text, at)) is not None:
                at = after
        except NoArgumentsError:
            self.failed = True
        out, self._out = self._out, []
        return at, "".join(out)

    @abstractmethod
    def _step(self, text: str, at: int) -> int | None:
        """One decision: where to go on, ``None`` when more text is needed for it. Raises NoArgumentsError."""
