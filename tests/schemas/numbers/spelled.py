"""Does a set's spelling take a text? By Python's own regular expressions, so that many texts are cheap."""

from __future__ import annotations

import json
import re
from functools import lru_cache

from schemas.numbers import NumberSet
from schemas.numbers.periodic import Part
from schemas.numbers.spelling import parts

_NATIVE = re.compile(r'(?P<minus>"-"\??)? ?%json (?P<schema>\{.*\})(?P<zeros> /\\\.0\{1,3\}/)?')


@lru_cache(maxsize=512)
def _parts(numbers: NumberSet, plain: bool) -> list[Part]:
    return parts(numbers.regions, plain=plain)


def takes(numbers: NumberSet, text: str, *, plain: bool = False) -> bool:
    return any(_part_takes(part, text) for part in _parts(numbers, plain))


def _part_takes(part: Part, text: str) -> bool:
    if part.native:
        return _native_takes(part.native, text)
    return all(re.fullmatch(p, text) for p in part.every) and not any(re.fullmatch(p, text) for p in part.none)


def _native_takes(native: str, text: str) -> bool:
    found = _NATIVE.fullmatch(native)
    assert found is not None, native
    schema = json.loads(found["schema"])
    digits = re.fullmatch(r"(-?)(0|[1-9][0-9]*)(\.0{1,3})?", text)
    if digits is None or bool(digits[3]) != bool(found["zeros"]):
        return False
    if (digits[1] and not found["minus"]) or (not digits[1] and found["minus"] == '"-"'):
        return False
    value = int(digits[2])
    return schema["minimum"] <= value <= schema["maximum"] and value % schema["multipleOf"] == 0
