"""The API of held actions: what waits to be carried out, and its recall."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.conflict import Conflict
from guardrails.api.scope import caller_for
from guardrails.contracts.cards import HeldSendCard
from guardrails.execute import held_sends
from guardrails.models import HeldSend
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


class HeldRow(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    turn_id = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField(help_text="The action in one line.")
    params = serializers.DictField(help_text="The arguments: exactly these are executed.")
    state = serializers.ChoiceField(choices=HeldSend.State.choices)
    held_at = serializers.DateTimeField()
    until = serializers.DateTimeField(help_text="Until then it can be recalled.")
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField(help_text="Who recalled it; “clock” released it.")
    outcome = serializers.CharField(help_text="What became of it, in words.")


class Recall(StrictSerializer):
    user_id = StrictCharField(max_length=200)


class HeldSendsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("state", str, enum=HeldSend.State.values),
        ],
        responses=HeldRow(many=True),
        operation_id="held_sends",
    )
    def get(self, request: Request) -> Response:
        """The user's held actions and what became of them, the 200 newest."""
        user_id = request.query_params.get("user_id", "")
        auth = caller_for(request, user_id)
        state = request.query_params.get("state")
        if state is not None and state not in HeldSend.State.values:
            raise exceptions.ValidationError({"state": ["There is no such state."]})
        cards = held_sends.cards(
            organisation_id=auth.organisation_id, external_user_id=user_id, state=state
        )
        return Response([_row(card) for card in cards])


class RecallView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Recall, responses=HeldRow, operation_id="held_send_recall")
    def post(self, request: Request, held_send_id: UUID) -> Response:
        """Take a held action back: when this answers 200, it will not be carried out. Again
        gives the same answer; 409 when it was released before."""
        user_id = Recall.read(request.data)["user_id"]
        auth = caller_for(request, user_id)
        try:
            card = held_sends.recall(
                organisation_id=auth.organisation_id,
                held_send_id=held_send_id,
                by=auth.principal,
                external_user_id=user_id,
            )
        except held_sends.HeldSendNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_held_send") from error
        except held_sends.TooLate as error:
            raise Conflict(str(error)) from error
        return Response(_row(card))


def _row(card: HeldSendCard) -> dict[str, Any]:
    return HeldRow({**vars(card), "type": card.action_type, "params": card.arguments}).data
