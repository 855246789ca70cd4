"""Rows of a plain statement as instances of their model.

`Manager.raw` works out for every statement anew which column is which field, which takes several
times as long as a statement that finds nothing.
"""

from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection
from django.db.models import Model

from integrations.database.together import Read, Row

M = TypeVar("M", bound=Model)


def columns(model: type[Model], *, but: Collection[str] = ()) -> str:
    """What a statement selects for `read`: the model's columns in their order, `but` these."""
    return ", ".join(f'"{name}"' for name in _names(model) if name not in but)


def load(
    model: type[M], statement: str, values: Sequence[Any], *, but: Collection[str] = ()
) -> list[M]:
    """The rows that the statement finds. It selects `columns` of this model, `but` the same:
    these are read where somebody asks for them. One query."""
    return read(model, statement, values, but=but).run()


def read(
    model: type[M], statement: str, values: Sequence[Any], *, but: Collection[str] = ()
) -> Read[list[M]]:
    """The same, to be run with others."""

    def build(rows: Sequence[Row]) -> list[M]:
        names = [name for name in _names(model) if name not in but] if rows else []
        return [
            model.from_db(DEFAULT_DB_ALIAS, names, _converted(model, names, row)) for row in rows
        ]

    return Read(statement, values, build)


@cache
def _names(model: type[Model]) -> tuple[str, ...]:
    return tuple(field.attname for field in model._meta.concrete_fields)


def _converted(model: type[Model], names: Sequence[str], row: Sequence[Any]) -> list[Any]:
    fields = _converting(model)
    return [
        fields[name].from_db_value(value, fields[name].cached_col, connection)
        if name in fields
        else value
        for name, value in zip(names, row, strict=True)
    ]


@cache
def _converting(model: type[Model]) -> dict[str, Any]:
    """The fields whose values the database has in another form."""
    fields = model._meta.concrete_fields
    return {field.attname: field for field in fields if hasattr(field, "from_db_value")}
