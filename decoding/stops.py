"""Stop sequences, over visible text only: text of calls and reasoning is never shown to the scanner."""

from __future__ import annotations

from collections.abc import Sequence


class StopScanner:
    """Cuts text before the stop sequence that is completed first (of two completed together, the longer one).

    What may be the beginning of a stop sequence is held back; the outcome does not depend on how the text is split.
    Raises ValueError for an empty sequence.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        if any(not stop for stop in stops):
            raise ValueError("stop: a stop sequence cannot be empty")
        self._stops = tuple(dict.fromkeys(stops))
        self._longest = max(map(len, self._stops), default=0)
        self._held = ""

    def feed(self, text: str) -> tuple[str, str | None]:
        """The text that can be shown now, and the stop sequence when one was completed: nothing may be fed then."""
        self._held += text
        hits = [(at + len(stop), at, stop) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        if hits:
            _, start, stop = min(hits)
            visible, self._held = self._held[:start], ""
            return visible, stop
        end = self._possible_start()
        visible, self._held = self._held[:end], self._held[end:]
        return visible, None

    def flush(self) -> str:
        """The text held back, when no more is coming."""
        held, self._held = self._held, ""
        return held

    def _possible_start(self) -> int:
        """Where the longest end of the held text begins that may become a stop sequence."""
        for at in range(max(0, len(self._held) - self._longest + 1), len(self._held)):
            if any(stop.startswith(self._held[at:]) for stop in self._stops):
                return at
        return len(self._held)
