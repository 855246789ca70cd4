"""The API of drafts that the assistant wrote: those that wait, and what became of the others."""

from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.scope import accounts_of
from guardrails.models import AssistantDraft
from integrations.web.authentication import HasScope
from integrations.web.cursors import PageFields, page
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField


class DraftsFields(PageFields):
    user_id = StrictCharField(max_length=200)
    state = serializers.ChoiceField(choices=AssistantDraft.State.choices, required=False)


class DraftRow(serializers.ModelSerializer[AssistantDraft]):
    receivers = serializers.ListField(
        child=serializers.CharField(), help_text="Addresses in small letters."
    )

    class Meta:
        model = AssistantDraft
        fields: ClassVar = [
            *("action_id", "account_id", "draft_id", "thread_id", "reply_to_id", "receivers"),
            *("of_own_accord", "state", "answer_id", "nearness", "written_at", "ended_at"),
        ]


class DraftPage(serializers.Serializer[Any]):
    items = DraftRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")


class DraftsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(parameters=[DraftsFields], responses=DraftPage, operation_id="drafts")
    def get(self, request: Request) -> Response:
        """The drafts that Remit wrote for the user, newest first. Their text is in the mailbox, and
        in the ledger under `action_id`."""
        chosen = DraftsFields.read(request.query_params.dict())
        accounts = accounts_of(request, chosen["user_id"])
        rows = AssistantDraft.objects.filter(account_id__in=[one.id for one in accounts])
        if state := chosen.get("state"):
            rows = rows.filter(state=state)
        items, after = page(rows, chosen, by="written_at", key="action_id")
        return Response(DraftPage({"items": items, "next_cursor": after}).data)
