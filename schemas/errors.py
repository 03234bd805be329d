"""The one error of this package: a schema that cannot be compiled, and where."""

from __future__ import annotations


class SchemaError(ValueError):
    """A schema was refused.

    ``path`` is the JSON pointer (RFC 6901) of the offending subschema, ``keyword`` the keyword there (``""`` when the
    subschema as a whole is at fault) and ``reason`` a sentence for the person who wrote the schema.
    """

    def __init__(self, path: str, keyword: str, reason: str) -> None:
        super().__init__(f"{path or '/'}{': ' + keyword if keyword else ''}: {reason}")
        self.path = path
        self.keyword = keyword
        self.reason = reason

    def __reduce__(self) -> tuple[type[SchemaError], tuple[str, str, str]]:
        return type(self), (self.path, self.keyword, self.reason)


class TooComplex(Exception):
    """A question about a set cannot be answered, or a set not be written down, at bounded cost.

    Never leaves the package: the compiler works on with a superset and records a residue.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
