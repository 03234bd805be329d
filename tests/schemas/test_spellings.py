"""Spellings other than JSON: the same sets of objects, written in another way."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from schemas import SchemaError, compile_schema
from schemas.byte_vocabulary import EOS
from schemas.sample import matcher
from schemas.spelling import JSON, Keywords, Quoted, Tags, is_mixed

TAGS = Tags("<p=", ">", ">", "</p>", "\n")
TYPED = Tags('<p n="', '" s="1">', '" s="0">', "</p>")
KEYWORDS = Keywords()
QUOTED = Quoted("<'>")


def accepts(schema: Any, spelling: Any, text: str) -> bool:
    machine = matcher(compile_schema(schema, spelling=spelling).grammar)
    assert not machine.is_error(), machine.get_error()
    data = list(text.encode())
    return machine.validate_tokens([*data, EOS]) == len(data) + 1


def of(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


@pytest.mark.parametrize(
    ("spelling", "good", "bad"),
    [
        (
            TAGS,
            ["<p=a>x</p>\n<p=b>1</p>\n", "<p=b>1</p>\n<p=a></p>\n"],
            ["<p=a>x</p>\n", "<p=a>x</p>\n<p=b>x</p>\n", ""],
        ),
        (TYPED, ['<p n="a" s="1">1</p><p n="b" s="0">1</p>'], ['<p n="a" s="0">1</p><p n="b" s="0">1</p>']),
        (KEYWORDS, ['a="x", b=1', 'b=1,a=""'], ["a=x, b=1", 'a="x"', '(a="x", b=1)']),
        (QUOTED, ["{a:<'>x<'>,b:1}", "{b:1, a:<'><'>}"], ['{a:"x",b:1}', "{a:<'>x<'>}"]),
    ],
)
def test_members_in_any_order_and_each_once(spelling: Any, good: list[str], bad: list[str]) -> None:
    schema = of(a={"type": "string"}, b={"type": "integer"})
    assert all(accepts(schema, spelling, text) for text in good)
    assert not any(accepts(schema, spelling, text) for text in bad)
    for text in good:
        assert not accepts(schema, spelling, text + text)


def test_strings_hold_their_schema_raw() -> None:
    schema = of(a={"type": "string", "pattern": "^[a-z<]+$", "minLength": 2, "maxLength": 4}, b={"enum": ["x/y", '"']})
    assert accepts(schema, TAGS, '<p=a>ab</p>\n<p=b>"</p>\n')
    assert accepts(schema, TAGS, "<p=b>x/y</p>\n<p=a>a<</p>\n")
    assert not any(accepts(schema, TAGS, f"<p=a>{a}</p>\n<p=b>x/y</p>\n") for a in ("a", "abcde", "A1", '"ab"'))
    assert not accepts(schema, TAGS, "<p=a>ab</p>\n<p=b>x\\/y</p>\n")


def test_a_length_counts_characters() -> None:
    schema = of(a={"type": "string", "maxLength": 2})
    for spelling, text in ((TAGS, "<p=a>{}</p>\n"), (QUOTED, "{{a:<'>{}<'>}}")):
        assert accepts(schema, spelling, text.format("🎈\n"))
        assert not accepts(schema, spelling, text.format("abc"))


def test_conditions_between_members() -> None:
    schema = {
        "type": "object",
        "properties": {"kind": {"enum": ["a", "b"]}, "n": {"type": "integer"}, "s": {"type": "string"}},
        "required": ["kind"],
        "additionalProperties": False,
        "oneOf": [
            {"properties": {"kind": {"const": "a"}}, "required": ["n"]},
            {"properties": {"kind": {"const": "b"}}, "required": ["s"]},
        ],
        "dependentRequired": {"s": ["n"]},
    }
    kind, number, text = "<p=kind>{}</p>\n", "<p=n>1</p>\n", "<p=s>x</p>\n"
    assert accepts(schema, TAGS, kind.format("a") + number)
    assert accepts(schema, TAGS, text + number + kind.format("b"))
    assert not accepts(schema, TAGS, kind.format("a"))
    assert not accepts(schema, TAGS, kind.format("b") + text)


def test_other_members() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": {"type": "string"},
        "minProperties": 1,
        "maxProperties": 2,
    }
    # A text that could be either type is a number, for every member that is not named.
    assert compile_schema(schema, spelling=TAGS).members.others == {"string", "number"}
    for spelling, number, text, quoted in (
        (TAGS, "<p=n_a>1</p>\n", "<p=x y>1x</p>\n", '<p=x>"1"</p>\n'),
        (KEYWORDS, "n_a=1", 'x="1x"', 'xy="1"'),
        (QUOTED, "{n_a:1}", "{x y:<'>1x<'>}", "{x:<'>1<'>}"),
    ):
        assert all(accepts(schema, spelling, each) for each in (number, text, quoted))
    assert not accepts(schema, TAGS, "<p=x>1</p>\n")
    assert not accepts(schema, TAGS, "")
    assert not accepts(schema, TAGS, "<p=a>x</p>\n<p=b>x</p>\n<p=c>x</p>\n")


def test_what_could_be_two_types_is_one() -> None:
    schema = of(a={"type": ["string", "number", "null", "array", "boolean"]})
    members = compile_schema(schema, spelling=TAGS).members
    assert is_mixed(members.kinds("a"))
    for text in ("x", "1x", "1", "null", "nul", "[1]", "true", '"1"', '"null"', '"[1]"', '"x', "{1}"):
        assert accepts(schema, TAGS, f"<p=a>{text}</p>\n"), text
    assert not accepts(schema, TAGS, "<p=a>[1</p>\n")


def test_special_tokens_stand_by_their_ids() -> None:
    schema = of(a={"type": "string"}, b={"type": "integer"})
    tags = compile_schema(schema, spelling=Tags("<p=", ">", ">", "</p>", special=(("</p>", 70),))).grammar
    assert "<[70]>" in tags
    assert '"</p>"' not in tags
    quoted = compile_schema(schema, spelling=Quoted("<'>", (("<'>", 71),))).grammar
    assert "<[71]> <[71]>" in quoted
    assert '"<\'>"' not in quoted


def test_what_has_no_text_is_refused_or_left_out() -> None:
    for spelling, value in ((TAGS, "a</p>"), (QUOTED, "a<'>")):
        with pytest.raises(SchemaError):
            compile_schema(of(a={"const": value}), spelling=spelling)
    with pytest.raises(SchemaError) as refused:
        compile_schema(of(a={"enum": ["</p>", "x</p>"]}, b={}), spelling=TAGS)
    assert refused.value.path == "/properties/a"
    optional = {"type": "object", "properties": {"a>": {}, "b": {}}, "additionalProperties": False}
    compiled = compile_schema(optional, spelling=TAGS)
    assert [narrowing.keyword for narrowing in compiled.narrowings] == ["properties"]
    assert accepts(optional, TAGS, "<p=b>1</p>\n")


def test_json_is_the_default() -> None:
    schema = of(a={"type": "string"})
    assert compile_schema(schema).spelling == JSON
    assert compile_schema(schema).grammar == compile_schema(schema, spelling=JSON).grammar
    compiled = pickle.loads(pickle.dumps(compile_schema(schema, spelling=TAGS, undeclared="forbid")))
    assert (compiled.spelling, compiled.undeclared) == (TAGS, "forbid")
    assert compiled.validate({"a": "x"}) == []
