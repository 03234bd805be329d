"""Formats: the JSON Schema test suite, jsonschema-rs, and every member drawn from the languages."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import jsonschema_rs
import pytest

from schemas.strings import Language
from schemas.strings.formats import NAMES
from tests.schemas.strings.lexer import accepts, matcher, spelled

SHARED = Path(os.environ.get("STRICTCALL_SHARED", Path(__file__).parents[3].parent / "shared"))
FORMATS = [
    "date",
    "time",
    "date-time",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
]
# Names with A-labels (Punycode is not regular): left out of the language, on purpose.
_A_LABEL = "xn--"


def _language(name: str, draft: str = "2020-12") -> Language:
    found = Language.named_format(name, draft)
    assert found is not None
    return found


@pytest.mark.parametrize("draft", ["4", "6", "7", "2019-09", "2020-12"])
def test_the_test_suite(draft: str) -> None:
    folder = SHARED / "json-schema-test-suite" / "tests" / f"draft{draft}" / "optional" / "format"
    if not folder.is_dir():
        pytest.skip("the JSON Schema test suite is not at hand")
    tried = 0
    for name in FORMATS:
        path = folder / f"{name}.json"
        for group in json.loads(path.read_text()) if path.exists() else []:
            for case in group["tests"]:
                text = case["data"]
                if isinstance(text, str) and not (name == "hostname" and _A_LABEL in text and draft not in ("4", "6")):
                    tried += 1
                    assert _language(name, draft).contains(text) == case["valid"], (name, text, case["description"])
    assert tried > 50


@pytest.mark.parametrize("name", FORMATS)
def test_members_and_their_neighbours_against_jsonschema_rs(name: str) -> None:
    language = _language(name)
    judge = jsonschema_rs.validator_for({"format": name}, validate_formats=True, offline=True)
    rng = random.Random(name)
    for _ in range(60):
        member = language.sample(rng)
        assert judge.is_valid(member), member
        at = rng.randrange(len(member) + 1)
        for text in (member[:at] + member[at + 1 :], member[:at] + rng.choice("0129:/-.@%[]{}aTZ \n") + member[at:]):
            assert language.contains(text) == judge.is_valid(text), text


@pytest.mark.parametrize("name", FORMATS)
def test_the_terminal_of_a_format(name: str) -> None:
    language, reason = _language(name).affordable()
    assert reason is None
    start = matcher(language.terminal())
    rng = random.Random(name)
    for _ in range(10):
        assert accepts(start, spelled(language.sample(rng), rng))
    assert not accepts(start, '"\\u0001 no such thing"')


@pytest.mark.parametrize("name", ["regex", "idn-email", "idn-hostname", "int32", "color", "", "no-such-format"])
def test_what_is_not_exactly_known_is_an_annotation(name: str) -> None:
    assert Language.named_format(name) is None


@pytest.mark.parametrize(
    ("name", "text", "valid"),
    [
        ("date", "2025-02-31", False),
        ("date", "1900-02-29", False),
        ("date", "2000-02-29", True),
        ("date", "0000-02-29", True),
        ("time", "23:59:60Z", True),
        ("time", "22:59:60Z", False),
        ("time", "15:59:60-08:00", True),
        ("time", "12:00:00", False),
        ("duration", "P1Y2W", False),
        ("ipv4", "01.2.3.4", False),
        ("ipv6", "1::2::3", False),
        ("ipv6", "::ffff:1.2.3.4", True),
        ("email", "a" * 64 + "@b.c", True),
        ("email", "a" * 65 + "@b.c", False),
        ("hostname", "a" * 63 + ".b", True),
        ("hostname", "a" * 64 + ".b", False),
        ("hostname", ".".join(["a" * 63] * 4), False),
        ("uri", "https://a b", False),
        ("uri", "//no.scheme", False),
        ("json-pointer", "/a~2", False),
    ],
)
def test_edges(name: str, text: str, valid: bool) -> None:
    assert _language(name).contains(text) == valid


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("hostname", "xn--bcher-kva.de"),
        ("email", "Bob <a@b.co>"),
        ("email", "a@xn--bcher-kva.de"),
        ("time", "00:14:60+00:15"),
        ("date-time", "1990-12-31T15:44:60-08:15"),
    ],
)
def test_what_a_format_leaves_out_is_not_in_its_complement(name: str, text: str) -> None:
    found = _language(name)
    assert jsonschema_rs.validator_for({"format": name}, validate_formats=True).is_valid(text)
    assert not (~found).contains(text)
    assert (~found).contains("..")
    assert ~~found == found


@pytest.mark.parametrize("name", NAMES)
def test_no_reader_takes_what_the_complement_of_a_format_has(name: str) -> None:
    """Character by character after a beginning of the format."""
    language = Language.named_format(name)
    assert language is not None
    others, reader = ~language, jsonschema_rs.validator_for({"format": name}, validate_formats=True)
    beginning = {"iri": "a:/", "uri": "a:/", "email": "a@b.c", "hostname": "a"}.get(name, "/")
    codes = {
        *range(0, 0x110000, 61),
        *range(0x300),
        *(plane + last for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF)),
    }
    texts = [beginning + chr(code) for code in codes if not 0xD800 <= code <= 0xDFFF]
    assert [text for text in texts if others.contains(text) and reader.is_valid(text)] == []
