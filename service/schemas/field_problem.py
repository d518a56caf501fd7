"""A bad field, as refusals and reports name it."""

from msgspec import Struct


class FieldProblem(Struct, frozen=True):
    """A bad field or parameter: a JSON path such as `$.memories[3].key`, and what to do."""

    path: str
    message: str
