"""Hostile schemas (g6) end in a result or a clear error within seconds: never a crash, a hang or a poisoned cache."""

from __future__ import annotations

import multiprocessing
import resource
import time
from multiprocessing.connection import Connection
from typing import Any

import pytest

from schemas import SchemaError, compile_schema
from schemas.sample import matcher

SECONDS = 3.0
"""CPU seconds a schema may take: one or two are meant, and a loaded machine counts more."""

MEMORY = 4 << 30
"""Address space, bytes."""


def attempt(pipe: Connection, build: str, arguments: tuple[Any, ...]) -> None:
    """The verdict on what ``build(*arguments)`` makes, after a good schema has been compiled behind it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    spent = time.process_time()
    resource.setrlimit(resource.RLIMIT_CPU, (int(spent + 2 * SECONDS), int(spent + 2 * SECONDS)))
    space: dict[str, Any] = {}
    exec(build, space)
    schema = space["build"](*arguments)
    started = time.process_time()
    try:
        compiled = compile_schema(schema)
        taken = matcher(compiled.grammar)
        taken.compute_bitmask()
        verdict = taken.get_error() if taken.is_error() else compiled.guarantee
    except SchemaError as error:
        verdict = f"refused {error.path} {error.keyword}: {error.reason}"[:400]
    used = time.process_time() - started
    good = compile_schema({"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]})
    after = matcher(good.grammar)
    well = after.try_consume_tokens(list(b'{"a":1}')) == 7 and after.is_accepting()
    pipe.send((verdict, used, well))


def outcome(build: str, *arguments: Any) -> str:
    """``exact``, ``checked`` or ``refused …``, from a process of its own with bounded memory and time."""
    # Forked from a small process: this one may hold an engine's libraries, which fill the address space.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.schemas.test_hostile"])
    ours, theirs = context.Pipe()
    process = context.Process(target=attempt, args=(theirs, build, arguments))
    process.start()
    theirs.close()
    try:
        assert ours.poll(300), "no answer within five minutes"
        verdict, used, well = ours.recv()
    except EOFError:
        process.join()
        pytest.fail(f"the process ended with exit code {process.exitcode}")
    finally:
        process.kill()
        process.join()
    assert used < SECONDS, f"{used:.1f} s: {verdict}"
    assert verdict.startswith(("exact", "checked", "refused")), verdict
    assert well, "a good schema no longer compiles after it"
    return str(verdict)


PATTERNS = [
    "(a*)*b",
    "^(a+)+$",
    "^((a|b)*c){1,200}$",
    "^(a{1,100}){1,100}$",
    "^(?:a?){500}a{500}$",
    "^.{0,20000}x.{10000}$",
    "^(.*a){20}$",
    "(x+x+)+y",
    "^(?=.*a)(?=.*b)(?=.*c)(?=.*d)(?=.*e)(?=.*f)(?=.*g)(?=.*h).{8,}$",
    "[ab]*a[ab]{40}",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(" * 500 + "a" + ")" * 500,
    "(a|" * 300 + "b" + ")" * 300,
    "\\p{L}{1,5000}\\p{N}{1,5000}",
    "^[^\\n\\r]{1,129}$",
    "a{1000000000}",
    "a{2,1}",
    "(",
    "(?<n>a)\\k<n>",
    "(a)\\1",
    "^(?!.*(.)\\1).*$",
    "[z-a]",
    "\\",
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda p: p[:30])
def test_patterns(pattern: str) -> None:
    outcome("def build(p): return {'type': 'string', 'pattern': p}", pattern)


def test_a_pattern_that_is_no_regular_expression_names_it() -> None:
    verdict = outcome("def build(): return {'properties': {'p': {'pattern': '('}}}")
    assert verdict.startswith("refused /properties/p pattern")


BUILDERS = {
    "oneOf of oneOf, ten levels": """
def build():
    s = {"type": "integer"}
    for level in range(10):
        s = {"oneOf": [s, {"properties": {f"p{level}": s}, "required": [f"p{level}"]}, {"maxLength": level}]}
    return s
""",
    "not of not of anyOf": """
def build():
    s = {"type": "string", "pattern": "a"}
    for level in range(60):
        s = {"not": {"anyOf": [s, {"minLength": level}]}}
    return s
""",
    "if in if": """
def build():
    s = {"required": ["z"]}
    for level in range(12):
        test = {"properties": {f"k{level}": {"const": level}}}
        s = {"if": test, "then": s, "else": {"allOf": [s, {"required": ["y"]}]}}
    return s
""",
    "self-reference": "def build(): return {'$ref': '#/$defs/n', '$defs': {'n': {'$ref': '#/$defs/n'}}}",
    "self-reference under not": "def build(): return {'not': {'$ref': '#'}}",
    "self-reference under a member": """
def build(): return {"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}
""",
    "maxLength 10^9": "def build(): return {'type': 'string', 'maxLength': 10**9}",
    "minLength 10^9": "def build(): return {'type': 'string', 'minLength': 10**9}",
    "maxItems 10^9": "def build(): return {'type': 'array', 'maxItems': 10**9}",
    "minItems 10^6": "def build(): return {'type': 'array', 'minItems': 10**6, 'items': {'type': 'integer'}}",
    "minProperties 10^6": "def build(): return {'type': 'object', 'minProperties': 10**6}",
    "maxContains 10^9": "def build(): return {'contains': {'const': 1}, 'minContains': 500, 'maxContains': 10**9}",
    "multipleOf 1e-300": "def build(): return {'type': 'number', 'multipleOf': 1e-300}",
    "multipleOf a large prime": "def build(): return {'type': 'integer', 'multipleOf': 1000003, 'minimum': 7}",
    "three multiples": """
def build(): return {"type": "integer", "allOf": [{"multipleOf": 97}, {"multipleOf": 89}, {"multipleOf": 83}]}
""",
    "minimum of 400 digits": "def build(): return {'type': 'integer', 'minimum': 10**400}",
    "not everything": "def build(): return {'not': {}}",
    "nothing": "def build(): return False",
    "10,000 nested arrays": """
def build():
    s = {}
    for _ in range(10000): s = {"type": "array", "items": s}
    return s
""",
    "2,000 nested allOf": """
def build():
    s = {}
    for _ in range(2000): s = {"allOf": [s]}
    return s
""",
    "enum of deep values": """
def build():
    v = []
    for _ in range(3000): v = [v]
    return {"enum": [v, {"a": v}]}
""",
    "5 MB of properties": """
def build(): return {"properties": {f"property_{i}": {"type": "string", "description": "x" * 60} for i in range(48000)}}
""",
    "5 MB of enum": "def build(): return {'enum': [f'value {i} ' + 'x' * 40 for i in range(90000)]}",
    "5 MB of description": "def build(): return {'description': 'x' * 5_000_000, 'type': 'integer'}",
    "300 required members": """
def build():
    names = [f"p{i}" for i in range(300)]
    return {"properties": {n: {"type": "integer"} for n in names}, "required": names}
""",
    "60 members in an anyOf of 60": """
def build():
    names = [f"p{i}" for i in range(60)]
    return {"properties": {n: {"type": "integer"} for n in names}, "anyOf": [{"required": [n]} for n in names]}
""",
    "2^12 branches": """
def build(): return {"allOf": [{"anyOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(12)]}
""",
    "2^30 branches": """
def build(): return {"allOf": [{"oneOf": [{"required": [f"a{i}"]}, {"required": [f"b{i}"]}]} for i in range(30)]}
""",
    "40 overlapping patternProperties": """
def build(): return {"patternProperties": {f"^.*{chr(97 + i % 26)}.*{i}$": {"minimum": i} for i in range(40)}}
""",
    "uniqueItems of a large enum": """
def build(): return {"type": "array", "items": {"enum": list(range(500))}, "uniqueItems": True, "minItems": 100}
""",
    "dependent chains": """
def build(): return {"dependentRequired": {f"p{i}": [f"p{i+1}", f"p{(7 * i) % 200}"] for i in range(200)}}
""",
    "references doubled 40 times": """
def build():
    defs = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i+1}"}, {"$ref": f"#/$defs/d{i+1}"}]} for i in range(40)}
    return {"$ref": "#/$defs/d0", "$defs": defs | {"d40": {"type": "integer"}}}
""",
    "members doubled 30 times": """
def build():
    def to(i): return {"$ref": f"#/$defs/d{i}"}
    defs = {f"d{i}": {"properties": {"l": to(i + 1), "r": to(i + 1)}} for i in range(30)}
    return {"$ref": "#/$defs/d0", "$defs": defs | {"d30": {"type": "integer"}}}
""",
    "unevaluated over many branches": """
def build():
    return {
        "anyOf": [{"properties": {f"p{i}": {"const": i}}, "required": [f"p{i}"]} for i in range(16)],
        "unevaluatedProperties": False,
    }
""",
    "long literals that share prefixes": """
def build(): return {"enum": ["a" * i for i in range(1500)]}
""",
    "a key of a megabyte": "def build(): return {'properties': {'k' * 1_000_000: {}}, 'required': ['k' * 1_000_000]}",
    "keywords of the wrong type": """
def build(): return {"type": 3, "properties": [1], "required": "a", "items": 5, "minimum": "x", "enum": 7}
""",
    "infinite bounds": "def build(): return {'minimum': float('inf'), 'maximum': float('nan'), 'enum': [float('nan')]}",
    "lone surrogates": "def build(): return {'properties': {'\\ud800': {}}, 'enum': ['\\udc00', {'\\ud800': 1}, 1]}",
}


@pytest.mark.parametrize("name", BUILDERS)
def test_documents(name: str) -> None:
    outcome(BUILDERS[name])


@pytest.mark.parametrize(
    "name", ["not everything", "nothing", "minimum of 400 digits", "self-reference under a member"]
)
def test_what_allows_nothing_is_refused_as_such(name: str) -> None:
    assert "unsatisfiable" in outcome(BUILDERS[name])


@pytest.mark.parametrize("name", ["10,000 nested arrays", "5 MB of properties", "minItems 10^6"])
def test_what_is_too_much_names_the_limit_or_fits(name: str) -> None:
    verdict = outcome(BUILDERS[name])
    assert verdict in ("exact", "checked") or "limit" in verdict


@pytest.mark.parametrize("kind", ["integer", "number"])
@pytest.mark.parametrize(("low", "high"), [(10**300, 10**300 + 5), (-(10**100) - 5, -(10**100))])
def test_numbers_that_not_even_a_superset_spells_are_refused_where_they_stand(kind: str, low: int, high: int) -> None:
    bounds = {"type": kind, "minimum": low, "maximum": high}
    with pytest.raises(SchemaError, match="too complex: no such number has a short text") as caught:
        compile_schema({"type": "object", "properties": {"a": {"items": bounds}}, "required": ["a"]})
    assert caught.value.path == "/properties/a/items"
