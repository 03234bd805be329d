from __future__ import annotations

import llguidance
import pytest

from decoding.engine import matcher_cache
from decoding.engine.matcher_cache import MatcherCache
from tests.decoding.engine.support import tokenizer


def compiled() -> llguidance.LLMatcher:
    return llguidance.LLMatcher(tokenizer(), llguidance.grammar_from("grammar", 'start: "a"+'), log_level=0)


def test_one_compilation_per_grammar() -> None:
    cache = MatcherCache()
    first = cache.get_or_compile("a", "", compiled)
    assert cache.get_or_compile("a", "", compiled) is first
    assert cache.get_or_compile("b", "", compiled) is not first
    assert (cache.hits, cache.misses, len(cache)) == (1, 2, 2)


def test_the_least_recently_used_goes_first() -> None:
    cache = MatcherCache(capacity=3 * matcher_cache.BYTES_PER_ENTRY)
    a, _ = cache.get_or_compile("a", "", compiled), cache.get_or_compile("b", "", compiled)
    assert cache.get_or_compile("a", "", compiled) is a
    cache.get_or_compile("c", "", compiled)
    assert len(cache) == 2
    assert cache.get_or_compile("a", "", compiled) is a
    hits = cache.hits
    cache.get_or_compile("b", "", compiled)
    assert cache.hits == hits


def test_what_alone_is_too_large_is_kept_for_one_use() -> None:
    cache = MatcherCache(capacity=1)
    entry = cache.get_or_compile("a", "", compiled)
    assert cache.get_or_compile("a", "", compiled) is entry
    cache.get_or_compile("b", "", compiled)
    assert len(cache) == 1


def test_an_entry_does_not_live_for_ever() -> None:
    cache = MatcherCache()
    entry = cache.get_or_compile("a", "", compiled)
    entry.tokens = matcher_cache.TOKENS_PER_ENTRY
    assert cache.get_or_compile("a", "", compiled) is not entry
    assert len(cache) == 1


def test_an_evicted_entry_is_compiled_again() -> None:
    cache = MatcherCache()
    entry = cache.get_or_compile("a", "", compiled)
    cache.evict(entry)
    newer = cache.get_or_compile("a", "", compiled)
    assert newer is not entry
    cache.evict(entry)  # an old copy fails once more: the newer entry stays
    assert cache.get_or_compile("a", "", compiled) is newer


def test_a_failed_compilation_leaves_nothing() -> None:
    cache = MatcherCache()

    def fail() -> llguidance.LLMatcher:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        cache.get_or_compile("a", "", fail)
    assert len(cache) == 0
