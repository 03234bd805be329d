"""Matchers compiled once per grammar text and copied per request."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

import llguidance

from decoding.engine.free_text import FreeTextMasks, Markers

#: What a compiled grammar and its lexer take beside its text: some 20 bytes for one, with automata still growing.
BYTES_PER_CHARACTER = 20
BYTES_PER_ENTRY = 64 * 1024
#: Copies share their lexer, whose states only grow: ~15 per token of counted strings, 2,000,000 at most
#: (``schemas.engine.LIMITS``). An entry that has seen so many tokens is compiled anew for the next request.
TOKENS_PER_ENTRY = 50_000


@dataclass(slots=True, eq=False)
class CompiledGrammar:
    """A matcher that no request has moved, what its free text needs, and how many tokens its copies have consumed."""

    key: str
    matcher: llguidance.LLMatcher
    free_text: FreeTextMasks | None
    tokens: int = 0

    @property
    def size(self) -> int:
        return BYTES_PER_ENTRY + BYTES_PER_CHARACTER * len(self.key)


@dataclass(slots=True)
class MatcherCache:
    """Least recently used entries go first, once all take more than ``capacity`` bytes (an estimate).

    Used by the threads that compile and by the step loop. Two threads may compile one grammar at the same time; the
    later one's entry stays.
    """

    capacity: int = 256 * 1024**2
    hits: int = 0
    misses: int = 0
    _entries: OrderedDict[str, CompiledGrammar] = field(default_factory=OrderedDict)
    _size: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get_or_compile(
        self, key: str, grammar: str, compile_matcher: Callable[[], llguidance.LLMatcher]
    ) -> CompiledGrammar:
        """The entry of ``key``; ``grammar`` is searched for its free-text hint. Raises what compiling raises."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is not None and entry.tokens < TOKENS_PER_ENTRY:
                self._entries.move_to_end(key)
                self.hits += 1
                return entry
            self.misses += 1
        markers = Markers.of(grammar)
        made = CompiledGrammar(key, compile_matcher(), None if markers is None else FreeTextMasks(markers))
        with self._lock:
            self._remove(key)
            self._entries[key] = made
            self._size += made.size
            while self._size > self.capacity and len(self._entries) > 1:
                self._remove(next(iter(self._entries)))
        return made

    def evict(self, entry: CompiledGrammar) -> None:
        """A copy has failed: its lexer, which all later copies would share, may be of no use any more."""
        with self._lock:
            if self._entries.get(entry.key) is entry:
                self._remove(entry.key)

    def __len__(self) -> int:
        return len(self._entries)

    def _remove(self, key: str) -> None:
        removed = self._entries.pop(key, None)
        if removed is not None:
            self._size -= removed.size
