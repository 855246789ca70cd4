"""The API of change requests: asking for what was refused, and how far that is."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.conflict import Conflict
from guardrails.api.scope import caller_for, speaking_to
from guardrails.approve import change_requests
from guardrails.approve.change_request_rows import list_requests
from guardrails.contracts.cards import ChangeRequestCard
from guardrails.models import ChangeRequest
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer


class TooMany(exceptions.APIException):
    status_code = status.HTTP_429_TOO_MANY_REQUESTS
    default_code = "too_many_change_requests"


class Asking(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    action_id = serializers.UUIDField(help_text="The refused action's id in the ledger.")


class ChangeRequestRow(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action_id = serializers.UUIDField(help_text="The refused action's id in the ledger.")
    turn_id = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField(help_text="The refused action in one line.")
    differences = serializers.ListField(
        child=serializers.CharField(),
        help_text="What would change of the policy in words, or what was changed.",
    )
    state = serializers.ChoiceField(choices=ChangeRequest.State.choices)
    created_at = serializers.DateTimeField()
    decided_at = serializers.DateTimeField(allow_null=True)
    answer = serializers.CharField(help_text="What the operator says to it; may be empty.")
    sentence = serializers.CharField(help_text="How far it is, in words.")


class ChangeRequestsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("state", str, enum=ChangeRequest.State.values),
        ],
        responses=ChangeRequestRow(many=True),
        operation_id="change_requests",
    )
    def get(self, request: Request) -> Response:
        """What the user has asked operators to permit, the 200 newest."""
        user_id = request.query_params.get("user_id", "")
        auth = caller_for(request, user_id)
        state = request.query_params.get("state")
        if state is not None and state not in ChangeRequest.State.values:
            raise exceptions.ValidationError({"state": ["There is no such state."]})
        with speaking_to(request, user_id):
            found = list_requests(
                organisation_id=auth.organisation_id, external_user_id=user_id, state=state
            )
            return Response([_row(card) for card in found])

    @extend_schema(
        request=Asking,
        responses={200: ChangeRequestRow, 201: ChangeRequestRow},
        operation_id="change_request",
    )
    def post(self, request: Request) -> Response:
        """Ask operators to permit what was refused to the user. Asked for again, it is the same
        request (200). 409 where no change of the account's policy would permit it, 429 when the
        user has asked for too much within a day."""
        wish = Asking.read(request.data)
        auth = caller_for(request, wish["user_id"])
        try:
            with speaking_to(request, wish["user_id"]):
                card, is_new = change_requests.ask(
                    organisation_id=auth.organisation_id,
                    external_user_id=wish["user_id"],
                    action_id=wish["action_id"],
                    asked_by=auth.principal,
                )
        except change_requests.ActionNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_action") from error
        except change_requests.CannotAsk as error:
            raise Conflict(str(error), code="no_change_permits_it") from error
        except change_requests.TooMany as error:
            raise TooMany(str(error)) from error
        return Response(
            _row(card), status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
        )


def _row(card: ChangeRequestCard) -> dict[str, Any]:
    return ChangeRequestRow({**vars(card), "type": card.action_type}).data
