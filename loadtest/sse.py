"""Server-sent events as this API sends them: bytes in, the JSON texts of the ``data:`` frames out.

Stricter than the W3C format on purpose: what is checked is that *every* client can read the stream, so a frame is
exactly one ``data: …`` line closed by an empty line, with ``\\n`` ends, and comment lines are the only other thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

DONE = "[DONE]"


@dataclass(slots=True)
class FrameReader:
    """Incremental reader. ``faults`` holds what breaks the framing rules, in plain words."""

    faults: list[str] = field(default_factory=list)
    _buffer: bytes = b""

    def feed(self, data: bytes) -> list[str]:
        """Take the next bytes off the wire and return the payloads of the frames that they complete."""
        self._buffer += data
        *frames, self._buffer = self._buffer.split(b"\n\n")
        return [payload for frame in frames if (payload := self._payload(frame)) is not None]

    def end(self) -> None:
        """The connection is closed: nothing may be left over."""
        if self._buffer:
            self.faults.append(f"bytes after the last whole frame: {self._buffer[:80]!r}")

    def _payload(self, frame: bytes) -> str | None:
        lines = [line for line in frame.split(b"\n") if not line.startswith(b":")]
        if not lines:
            return None
        if len(lines) != 1 or not lines[0].startswith(b"data: ") or b"\r" in lines[0]:
            self.faults.append(f"not one 'data: ' line: {frame[:80]!r}")
            return None
        try:
            return lines[0][len(b"data: ") :].decode("utf-8")
        except UnicodeDecodeError as error:
            self.faults.append(f"a frame is not UTF-8 ({error}): {frame[:80]!r}")
            return None
