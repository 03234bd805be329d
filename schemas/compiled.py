"""What compiling a schema gives: the grammar, how far it holds the schema, and the schema's own validator."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from schemas.document import validator_for
from schemas.spelling import JSON, Members, Spelling

Guarantee: TypeAlias = Literal["exact", "checked"]
Undeclared: TypeAlias = Literal["allow", "forbid"]


@dataclass(frozen=True, slots=True)
class Residue:
    """A part of the schema that the grammar alone does not hold: ``validate`` must check it."""

    path: str
    keyword: str
    reason: str


@dataclass(frozen=True)
class CompiledSchema:
    """One schema, compiled. Can be pickled: the validator is built again where it is first used."""

    schema: dict[str, Any] | bool
    grammar: str
    residue: list[Residue] = field(default_factory=list)
    minimal_length: int = 1
    """Bytes of the shortest value's text, as far as the grammar is exact; a lower bound where it is checked."""
    key: str = ""
    """Equal for schemas that differ only in annotations and in the order of members, compiled in the same way."""
    closed: bool = False
    """Undeclared members were forbidden wherever properties are declared: asked for, and possible everywhere."""
    narrowings: list[Residue] = field(default_factory=list)
    """Where the grammar writes only some of the valid texts (an order of members, say); what it writes is valid."""
    spelling: Spelling = JSON
    """How ``grammar`` writes the values."""
    members: Members = field(default_factory=Members)
    """What a text in ``spelling`` means; of no interest to JSON."""
    undeclared: Undeclared = "allow"
    """As it was asked for: see ``compile_schema``."""

    @property
    def guarantee(self) -> Guarantee:
        return "checked" if self.residue else "exact"

    @cached_property
    def _validator(self) -> Any:
        return validator_for(self.schema)

    def validate(self, value: Any) -> list[str]:
        """The faults of ``value`` against the schema as it was written, one sentence each; empty when valid."""
        return [
            f"{'/'.join(map(str, e.instance_path)) or 'value'}: {e.message}" for e in self._validator.iter_errors(value)
        ]

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_validator"}
