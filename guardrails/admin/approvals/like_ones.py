"""Like actions that wait as one question: one row of the inbox, a page that decides about them by
the fifty, and a list of each."""

from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlencode

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from guardrails.models import Approval
from integrations.contracts.field_types import uuid_or_none

BATCH_MAX = 50  # cards of one page: nobody reads more than that
LIKE, AFTER = "like", "after"


def select(rows: QuerySet[Approval], row: Approval) -> QuerySet[Approval]:
    """Those of `rows` that wait as one question with this row, as long as the same people see to
    them, the oldest first."""
    return rows.filter(
        state=Approval.State.PENDING,
        escalated_at=None,
        question=row.question,
        delegated_to=row.delegated_to,
    ).order_by("created_at", "id")


def link_page(row: Approval, *, after: Approval | None = None) -> str:
    """Where all of them are decided together; `after`: those that follow it."""
    query = {LIKE: row.pk} | ({AFTER: after.pk} if after else {})
    return f"{reverse('admin:guardrails_approval_batch')}?{urlencode(query)}"


def link_list(row: Approval) -> str:
    """Where each of them is a row."""
    return f"{reverse('admin:guardrails_approval_changelist')}?{urlencode({LIKE: row.pk})}"


@dataclass(frozen=True, kw_only=True)
class LikePage:
    """Some of the `number` that wait, from the `first` on (counted from 1). Where links are empty,
    there is nothing before or after."""

    row: Approval
    rows: tuple[Approval, ...]
    number: int
    first: int
    following: str

    @classmethod
    def load(cls, rows: QuerySet[Approval], row: Approval, *, after: Approval | None) -> Self:
        """Four queries at most."""
        every = select(rows, row)
        later = every.filter(_follows(after)) if after else every
        found = tuple(later[: BATCH_MAX + 1])
        page, number = found[:BATCH_MAX], every.count()
        return cls(
            row=row,
            rows=page,
            number=number,
            first=number - later.count() + 1 if after else 1,
            following=link_page(row, after=page[-1]) if len(found) > len(page) else "",
        )

    @property
    def last(self) -> int:
        return self.first + len(self.rows) - 1

    @property
    def beginning(self) -> str:
        return link_page(self.row) if self.first > 1 else ""

    @property
    def list(self) -> str:
        return link_list(self.row)


def find(rows: QuerySet[Approval], text: str) -> Approval | None:
    """The row with this id, if the person may see it."""
    key = uuid_or_none(text)
    return rows.filter(pk=key).first() if key else None


def link_following(rows: QuerySet[Approval], row: Approval, last: Approval) -> str:
    """The page of those that come after `last`; empty where none does."""
    left = select(rows, row).filter(_follows(last))
    return link_page(row, after=last) if left.exists() else ""


def _follows(row: Approval) -> Q:
    return Q(created_at__gt=row.created_at) | Q(created_at=row.created_at, id__gt=row.pk)


class LikeFilter(admin.SimpleListFilter):
    """There is a choice only where a row of like actions led here."""

    title = "like actions"
    parameter_name = LIKE

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        chosen = request.GET.get(LIKE)
        return [(chosen, "These like actions")] if chosen else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if not self.value():
            return queryset
        row = find(queryset.model.objects.all(), str(self.value()))
        return select(queryset, row).order_by() if row else queryset.none()
