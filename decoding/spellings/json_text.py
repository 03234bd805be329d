"""Arguments that are JSON text in the model's answer too."""

from __future__ import annotations

from decoding.json_scan import ObjectScanner


class JsonReader:
    """One JSON object, to the letter."""

    __slots__ = ("_begun", "_scanner", "failed", "goes_on")

    def __init__(self) -> None:
        self._scanner = ObjectScanner()
        self.goes_on = self._scanner.goes_on
        self._begun = False
        self.failed = False

    @property
    def complete(self) -> bool:
        return self._scanner.complete

    def read(self, text: str, at: int) -> tuple[int, str]:
        if not self._begun:
            if text[at] != "{":
                self.failed = True
                return at, ""
            self._begun = True
        end = self._scanner.scan(text, at)
        return end, text[at:end]
