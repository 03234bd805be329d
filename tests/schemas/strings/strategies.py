"""Random patterns and strings for the property tests: small alphabets, so that matches are frequent."""

from __future__ import annotations

from hypothesis import strategies as st

texts = st.text(alphabet="ab1 _-\n", max_size=7)
"""ASCII only: where all readings of a pattern agree."""

_atoms = st.one_of(
    st.sampled_from(["a", "b", "1", "_", "-", " ", r"\n", "."]),
    st.sampled_from([r"\d", r"\w", r"\W", r"\s", r"\S", "[ab]", "[^a]", r"[\w-]", r"[^\d_]", r"[\]a]"]),
)
_anchors = st.sampled_from(["^", "$", r"\b", r"\B"])
_quantifiers = st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}", "{2,}"])


def _extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, _quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        st.tuples(st.sampled_from(["(?=", "(?!", "(?<=", "(?<!"]), inner).map(lambda pair: f"{pair[0]}{pair[1]})"),
    )


patterns = st.recursive(st.one_of(_atoms, _atoms, _anchors), _extend, max_leaves=7)
"""Patterns with assertions anywhere."""


def _extend_plain(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.lists(inner, min_size=2, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
        st.tuples(inner, _quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
    )


plain_patterns = st.recursive(_atoms, _extend_plain, max_leaves=6)
"""Patterns without assertions: to be anchored by the caller."""
