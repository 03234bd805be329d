"""What a language costs llguidance's lexer: measured by a walk with a real matcher, in units that no machine changes.

The lexer explores derivatives lazily, per mask over the whole vocabulary. An intersection of two ambiguous
repetitions, one of them counted, can need a hundred thousand new expressions for one mask: slow, and past llguidance's
own limit an error in the middle of an answer. So every suspicious language is tried before it is used.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice

from llguidance import LLMatcher, LLParserLimits, LLTokenizer, TokenizerWrapper

from schemas.errors import TooComplex
from schemas.strings.automaton import sample, shortest
from schemas.strings.nodes import Chars, Complement, Concat, Intersection, Regex, Repeat, Union, pieces
from schemas.strings.regex import is_length
from schemas.strings.terminal import terminal

STEP_FUEL = 90_000
"""New lexer expressions that one mask may cost here. A vocabulary of 49,000 tokens needs one to four times as many as
the probe's own where the count is low and hardly more where it is high: about 5 ms at this limit."""
MAX_STATES = 30_000
WALKS = 2
LONGEST_WALK = 40
FEW = 8
"""A repetition counted up to this is cheap whatever stands beside it."""
LONG_TEXT = 2_000
"""Characters of a terminal."""
MOST_WORDS = 24
WORD = range(3, 13)
"""Lengths of the words of an expression that may be tokens of a vocabulary."""


def _common_pieces() -> frozenset[str]:
    """The kinds of longer token that a byte-pair vocabulary has."""
    words = [word + "abcdefghijkl"[: 12 - len(word)] for word in ("e", "the", "qu", "str", "Wor", "S", "_x", "A")]
    pieces = {word[:n] for word in words for n in range(2, 13)}
    pieces |= {" " + piece for piece in pieces}
    pieces |= {chr(code) + "n" for code in range(0x21, 0x7F) if chr(code) not in '"\\'}
    pieces |= {char * n for char in " -=_*.#/0" for n in (2, 3, 4, 8, 16)} | {str(n) for n in range(10, 100, 7)}
    pieces |= {"\\n", "\\n\\n", '\\"', "\\u", "\\u0", "\\u00", '":', '",', '"}', "://", ".com", "@g", "():", " ("}
    return frozenset(pieces | {"é", "ü", "и", "на", "ение", "的", "中国", "。", "’", "—", "😀", "→"})


_COMMON = _common_pieces()


class _Vocabulary:
    """Bytes, common pieces, and the parts of an expression's own words."""

    eos_token_id = 0
    bos_token_id = None
    special_token_ids = (0,)

    def __init__(self, own: tuple[str, ...]) -> None:
        pieces = _COMMON | {word[i:j] for word in own for i in range(len(word)) for j in range(i + 2, len(word) + 1)}
        self.tokens = [b"<end>", *(bytes([n]) for n in range(256)), *sorted(piece.encode() for piece in pieces)]

    def __call__(self, text: bytes | str) -> list[int]:
        return [byte + 1 for byte in (text if isinstance(text, bytes) else text.encode())]


@lru_cache(maxsize=16)
def _tokenizer(own: tuple[str, ...]) -> LLTokenizer:
    # Without llguidance's slices: they would take ten times as long to build as they are of use here.
    return LLTokenizer(TokenizerWrapper(_Vocabulary(own)), slices=[])


def own_words(node: Regex) -> tuple[str, ...]:
    """Words that the expression spells out. A large vocabulary has their parts as tokens, each of which may lead the
    lexer to states of its own, so the probe has them too."""
    found: dict[str, None] = {}
    todo = [node]
    while todo and len(found) < MOST_WORDS:
        at = todo.pop()
        run = ""
        for piece in [*pieces(at), None]:
            if isinstance(piece, Chars) and piece.set.is_single:
                run += piece.set.first()
                continue
            if len(run) in WORD:
                found[run] = None
            run = ""
            match piece:
                case Union() | Intersection():
                    todo.extend(piece.parts)
                case Complement() | Repeat():
                    todo.append(piece.inner)
    return tuple(sorted(found))


@lru_cache(maxsize=2048)
def too_costly(node: Regex, own: tuple[str, ...] = ()) -> str | None:
    """Why the lexer should be spared this language; ``None`` when it bears it. ``own``: words to have as tokens
    (``own_words``). Raises TooComplex for a large language, and for one that turns out to be empty."""
    if not suspicious(node):
        return None
    text = terminal(node)
    # First one walk, on a third of the fuel: of the languages of MaskBench none ends it that would fail another test.
    # A long one with intersections seldom ends it, and in a union the word may pass by the part that costs.
    likely = node.facts.plain or len(text) < LONG_TEXT
    if likely and _fault(text, own, islice(_words(node), 1), STEP_FUEL // 3) is None:
        return None
    return _fault(text, own, _words(node), STEP_FUEL)


def _fault(text: str, own: tuple[str, ...], words: Iterable[str], fuel: int) -> str | None:
    """What goes wrong in walks along ``words`` through the terminal ``text``."""
    limits = LLParserLimits(step_lexer_fuel=fuel, initial_lexer_fuel=10 * STEP_FUEL, max_lexer_states=MAX_STATES)
    grammar = LLMatcher.grammar_from_lark(f"start: S\nS: {text}\n")
    matcher = LLMatcher(_tokenizer(own), grammar, log_level=0, limits=limits)
    if matcher.is_error():
        return f"the lexer refuses the expression: {_first_line(matcher)}"
    for word in words:
        walker = matcher.deep_copy()
        for byte in json.dumps(word[:LONGEST_WALK], ensure_ascii=False).encode()[:LONGEST_WALK]:
            walker.compute_bitmask()
            if walker.is_error() or not walker.consume_token(byte + 1):
                return f"the lexer needs too many steps for it: {_first_line(walker)}"
    return None


def _first_line(matcher: LLMatcher) -> str:
    return str(matcher.get_error()).splitlines()[0][:120]


def _words(node: Regex) -> Iterator[str]:
    first = shortest(node)
    if first is None:
        raise TooComplex("it is empty")
    yield first
    rng = random.Random(node.facts.key)
    for _ in range(WALKS):
        yield sample(node, rng, length=LONGEST_WALK // 2)


@lru_cache(maxsize=4096)
def suspicious(node: Regex) -> bool:
    """Whether the form alone does not show that the lexer bears it."""
    match node:
        case Intersection():
            return any(not (is_length(part) or _is_list(part)) for part in node.parts)
        case Complement():
            return _repeats(node.inner)
        case Concat():
            parts = pieces(node)
            counted, loose = [p for p in parts if _many(p)], [p for p in parts if _loose(p)]
            return any(c is not p for c in counted for p in loose) or any(map(suspicious, parts))
        case Union():
            return any(suspicious(part) for part in node.parts) or sum(map(_many, node.parts)) > 1
        case Repeat():
            return not isinstance(node.inner, Chars) and (_many(node) or suspicious(node.inner))
    return False


def _is_list(node: Regex) -> bool:
    """Whether it is a finite list of words, or all words but these."""
    return not _repeats(node.inner if isinstance(node, Complement) else node)


@lru_cache(maxsize=4096)
def _repeats(node: Regex) -> bool:
    """Whether a repetition is anywhere inside."""
    match node:
        case Repeat() | Intersection() | Complement():
            return True
        case Union():
            return any(map(_repeats, node.parts))
        case Concat():
            return any(map(_repeats, pieces(node)))
    return False


@lru_cache(maxsize=4096)
def _loose(node: Regex) -> bool:
    """Whether something inside has no fixed number of times."""
    match node:
        case Repeat():
            return node.low != node.high or _loose(node.inner)
        case Union():
            return any(map(_loose, node.parts))
        case Concat():
            return any(map(_loose, pieces(node)))
        case Intersection() | Complement():
            return True
    return False


@lru_cache(maxsize=4096)
def _many(node: Regex) -> bool:
    """Whether something inside is counted up to more than a few."""
    match node:
        case Repeat():
            return node.low > FEW or (node.high or 0) > FEW or _many(node.inner)
        case Union() | Intersection():
            return any(map(_many, node.parts))
        case Complement():
            return _many(node.inner)
        case Concat():
            return any(map(_many, pieces(node)))
    return False
