"""What the subschemas that apply to one value have looked at: the memory behind ``unevaluated*`` and closed objects."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.compiled import Residue
from schemas.formula import Region, rest_of
from schemas.goals import GoalId
from schemas.stringset import StringSet


@dataclass(frozen=True, slots=True)
class Evaluated:
    """Members by name and pattern, items by index and by ``contains``."""

    everything: bool = False
    names: frozenset[str] = frozenset()
    patterns: frozenset[StringSet] = frozenset()
    prefix: int = 0
    """Items before this index are evaluated."""
    matched: frozenset[GoalId] = frozenset()
    """Items that satisfy one of these goals are evaluated too."""
    demanded: frozenset[str] = frozenset()
    """Names that are required but need not be declared."""
    declares: bool = False
    """Some subschema has ``properties``."""
    roomy: bool = False
    """Some subschema demands more members than it declares."""
    unknown: frozenset[Residue] = frozenset()
    """Patterns that could not be read: what they evaluate is not known."""

    def __or__(self, other: Evaluated) -> Evaluated:
        if self == _NOTHING:
            return other
        if other == _NOTHING:
            return self
        return Evaluated(
            self.everything or other.everything,
            self.names | other.names,
            self.patterns | other.patterns,
            max(self.prefix, other.prefix),
            self.matched | other.matched,
            self.demanded | other.demanded,
            self.declares or other.declares,
            self.roomy or other.roomy,
            self.unknown | other.unknown,
        )

    def rest(self) -> Region:
        """The names that are not evaluated."""
        return rest_of(self.names, self.patterns)

    def undeclared(self) -> Region:
        """The names that are neither evaluated nor demanded."""
        return rest_of(self.names | self.demanded, self.patterns)


_NOTHING = Evaluated()
