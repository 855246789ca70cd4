"""The API of approvals: what waits for a user, and their word on it."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from guardrails import approvals, selectors
from guardrails.api.conflict import Conflict
from guardrails.api.scope import caller_for
from guardrails.contracts import ActionResult, ApprovalCard
from guardrails.models import Approval
from guardrails.provenance import IN_WORDS
from guardrails.registry import InvalidArguments
from integrations.authentication import HasScope
from integrations.serializers import StrictCharField, StrictSerializer

REASON_MAX = 1000


class Card(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    turn_id = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField(help_text="The action in one line.")
    params = serializers.DictField(help_text="The arguments: exactly these are executed.")
    provenance = serializers.DictField(
        child=serializers.CharField(), help_text="Where each value comes from, in words."
    )
    side_effects = serializers.ListField(child=serializers.CharField())
    revises = serializers.UUIDField(
        allow_null=True, help_text="The approval that a person changed into this one."
    )
    proposed = serializers.DictField(
        help_text="What the agent proposed, where a person has changed it; else empty."
    )
    digest = serializers.CharField(help_text="Send it back to bind the word to what was shown.")
    state = serializers.ChoiceField(choices=Approval.State.choices)
    reason = serializers.CharField(help_text="Why a person is asked.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()


class Word(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["confirm", "reject"])
    digest = StrictCharField(
        max_length=64, required=False, help_text="The digest that was shown to the person."
    )
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class Change(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    arguments = serializers.DictField(
        allow_empty=False,
        help_text="The arguments to change. What is not named stays; null takes one away.",
    )
    digest = StrictCharField(
        max_length=64, required=False, help_text="The digest that was shown to the person."
    )


class Decided(serializers.Serializer[Any]):
    approval = Card()
    status = serializers.CharField(help_text="succeeded, noop, refused, failed, unknown, pending")
    reason = serializers.CharField()
    sentence = serializers.CharField()
    result = serializers.DictField()


class ApprovalsView(APIView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("state", str, enum=Approval.State.values),
        ],
        responses=Card(many=True),
        operation_id="approvals",
    )
    def get(self, request: Request) -> Response:
        """The user's approvals, the 200 newest."""
        user_id = request.query_params.get("user_id", "")
        auth = caller_for(request, user_id)
        state = request.query_params.get("state")
        if state is not None and state not in Approval.State.values:
            raise exceptions.ValidationError({"state": ["There is no such state."]})
        cards = selectors.approval_cards(
            organisation_id=auth.organisation_id, external_user_id=user_id, state=state
        )
        return Response([_card(card) for card in cards])


class DecideView(APIView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Word, responses=Decided, operation_id="approval_decide")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Confirm or reject. The same word again gives the same answer, another one 409."""
        body = Word(data=request.data)
        body.is_valid(raise_exception=True)
        word = body.validated_data
        auth = caller_for(request, word["user_id"])
        given: dict[str, Any] = {
            "organisation_id": auth.organisation_id,
            "approval_id": approval_id,
            "external_user_id": word["user_id"],
            "digest": word.get("digest"),
            "decided_by": auth.principal,
        }
        try:
            if word["decision"] == "reject":
                result = approvals.reject(**given, reason=word.get("reason", ""))
            else:
                result = approvals.confirm(**given)
        except approvals.ApprovalNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_approval") from error
        except approvals.ApprovalConflict as error:
            raise Conflict(str(error)) from error
        (card,) = selectors.approval_cards(organisation_id=auth.organisation_id, ids=[approval_id])
        return Response(_decided(card, result))


class EditView(APIView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Change, responses=Decided, operation_id="approval_edit")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Change arguments. That makes another action with a digest of its own, which waits
        (`approval` is then its card) and is decided like any other; the old one waits no
        longer. If the limits refuse the change, the old one waits on."""
        body = Change(data=request.data)
        body.is_valid(raise_exception=True)
        change = body.validated_data
        auth = caller_for(request, change["user_id"])
        try:
            result = approvals.edit(
                organisation_id=auth.organisation_id,
                approval_id=approval_id,
                external_user_id=change["user_id"],
                decided_by=auth.principal,
                digest=change.get("digest"),
                changes=change["arguments"],
            )
        except approvals.ApprovalNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_approval") from error
        except approvals.ApprovalConflict as error:
            raise Conflict(str(error)) from error
        except InvalidArguments as error:
            raise exceptions.ValidationError({"arguments": [f"{error}."]}) from error
        (card,) = selectors.approval_cards(
            organisation_id=auth.organisation_id, ids=[result.approval_id or approval_id]
        )
        return Response(_decided(card, result))


def _card(card: ApprovalCard) -> dict[str, Any]:
    provenance = {path: IN_WORDS.get(code, code) for path, code in card.provenance.items()}
    shown = {"type": card.action_type, "params": card.arguments, "provenance": provenance}
    return Card({**vars(card), **shown}).data


def _decided(card: ApprovalCard, result: ActionResult) -> dict[str, Any]:
    return {
        "approval": _card(card),
        "status": result.status,
        "reason": result.reason,
        "sentence": result.sentence,
        "result": result.result,
    }
