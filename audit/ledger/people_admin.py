"""Admins of rows that name people by id. Their pages call them as the ledger's pages do."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from unfold.decorators import display

from audit.ledger import people
from audit.ledger.timeline import reveal


class PeopleAdmin:
    """Of `people`, its columns that hold principals with their titles, a list says the names, with
    one query a page, and the page of a row the ids beside them."""

    people: Mapping[str, str]
    organisation_path: str | None

    def principal(self, row: Any, name: str) -> str:
        """Whom the column names."""
        return str(getattr(row, name))

    def get_changelist_instance(self, request: HttpRequest) -> Any:
        page = super().get_changelist_instance(request)  # type: ignore[misc]
        self._call(page.result_list)
        return page

    def get_list_display(self, request: HttpRequest) -> Sequence[Any]:
        columns = super().get_list_display(request)  # type: ignore[misc]
        return [self._column(one) if one in self.people else one for one in columns]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Sequence[Any]:
        fields: Sequence[Any] = super().get_fields(request, obj)  # type: ignore[misc]
        if obj is None:
            return fields  # a new row names nobody yet
        return [self._field(one) if one in self.people else one for one in fields]

    def _column(self, name: str) -> Callable[[Any], str]:
        def column(row: Any) -> str:
            return reveal(self.call_each(row)[name]) or "-"

        found: Callable[[Any], str] = display(description=self.people[name], ordering=name)(column)
        return found

    def _field(self, name: str) -> Callable[[Any], str]:
        def field(row: Any) -> str:
            return reveal(people.with_id(self.call_each(row)[name], getattr(row, name))) or "-"

        found: Callable[[Any], str] = display(description=self.people[name])(field)
        return found

    def call_each(self, row: Any) -> Mapping[str, str]:
        """Those whom the row names in words, by column; text of others. One query at most: a list
        has read them all before, and the theme calls a field five times."""
        if "called" not in vars(row):
            self._call([row])
        found: Mapping[str, str] = vars(row)["called"]
        return found

    def _call(self, rows: Sequence[Any]) -> None:
        named = {
            (row.pk, name): (self._organisation_id(row), self.principal(row, name))
            for row in rows
            for name in self.people
        }
        words = people.name_each(named.values())
        for row in rows:
            vars(row)["called"] = {name: words[named[row.pk, name]] for name in self.people}

    def _organisation_id(self, row: Any) -> Any:
        *way, last = str(self.organisation_path).split("__")
        for name in way:
            row = getattr(row, name)
        return getattr(row, f"{last}_id")
