"""What the admin of any row of policy has: each change is recorded in the history of policy."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import UUID

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.web.admin_pages import operator
from integrations.web.bound_admin import BoundAdmin


def author(request: HttpRequest) -> Author:
    """The person at a page, as the history of policy names them."""
    return Author(name=operator(request), door="admin")


class RecordedAdmin(BoundAdmin):
    def recording(self, ids: Sequence[UUID], request: HttpRequest) -> AbstractContextManager[None]:
        """Whatever becomes of these rows meanwhile is in the history of policy."""
        return changes.recording(self.model, ids, author=author(request))

    def save_model(self, request: HttpRequest, obj: Model, form: Any, change: bool) -> None:
        with self.recording([obj.pk], request):
            super().save_model(request, obj, form, change)

    def delete_model(self, request: HttpRequest, obj: Model) -> None:
        with self.recording([obj.pk], request):
            super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with self.recording(list(queryset.values_list("pk", flat=True)), request):
            super().delete_queryset(request, queryset)
