"""What agents suggest to a user, over HTTP, and the user's word on it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agents.inbound import taking_up
from agents.inbound.taking_up import Decider, SuggestionNotFound, SuggestionOver
from agents.journal import suggestions
from agents.models import Suggestion
from guardrails.approve.speaking import moment
from integrations.models.preferences import find_zones, load_preferences
from integrations.web.authentication import Caller, HasScope, caller_for, caller_of
from integrations.web.idempotency import ApiView
from integrations.web.languages import asked_for, speaking
from integrations.web.serializers import StrictCharField, StrictSerializer


class Over(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"
    default_detail = "This was decided differently."


class Asked(serializers.Serializer[Any]):
    user_id = StrictCharField(max_length=200)
    state = serializers.ChoiceField(choices=Suggestion.State.choices, default=Suggestion.State.OPEN)


class SuggestionWord(StrictSerializer):
    user_id = StrictCharField(max_length=200)


class SuggestionShape(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    turn_id = serializers.UUIDField()
    item_id = serializers.CharField(help_text="Of the invitation or issue, at its provider.")
    kind = serializers.ChoiceField(choices=Suggestion.Kind.choices)
    says = serializers.CharField(
        help_text="What taking it up does. What it quotes a stranger wrote: escape it."
    )
    because = serializers.ListField(
        child=serializers.CharField(), help_text="Why, a sentence each. Escape it, too."
    )
    title = serializers.CharField(help_text="Of the item. A stranger wrote it: escape it.")
    created_at = serializers.DateTimeField(help_text="When it was suggested.")
    when = serializers.CharField(help_text="The same on the user's clock, which is named.")
    state = serializers.ChoiceField(choices=Suggestion.State.choices)
    can_be_taken_up = serializers.BooleanField(
        help_text="False, too, where Remit can set nothing of it at the item's provider."
    )
    decided_by = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(allow_blank=True, help_text="Why it came to nothing, too.")
    action_id = serializers.UUIDField(allow_null=True, help_text="In the ledger.")


class SuggestionsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[Asked], responses=SuggestionShape(many=True), operation_id="suggestions"
    )
    def get(self, request: Request) -> Response:
        """What is suggested to the user about invitations and issues, the newest first."""
        asked = Asked(data=request.query_params.dict())
        asked.is_valid(raise_exception=True)
        user_id = asked.validated_data["user_id"]
        auth = caller_for(request, user_id)
        found = taking_up.list_suggestions(
            organisation_id=auth.organisation_id,
            external_user_id=user_id,
            state=asked.validated_data["state"],
        )
        with _speaking_to(request, user_id):
            return Response(_describe(found, auth, user_id))


class TakeUpView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        request=SuggestionWord, responses=SuggestionShape, operation_id="suggestion_take_up"
    )
    def post(self, request: Request, suggestion_id: UUID) -> Response:
        """Do it, inside the limits. Again gives the same answer; what the limits refuse stays open
        and says why, what is decided otherwise or out of date is 409."""
        user_id, decider = _decider(request)
        with in_http_terms(), _speaking_to(request, user_id):
            row, _ = taking_up.take_up(suggestion_id, decider)
            return Response(_describe([row], caller_of(request), user_id)[0])


class DismissView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        request=SuggestionWord, responses=SuggestionShape, operation_id="suggestion_dismiss"
    )
    def post(self, request: Request, suggestion_id: UUID) -> Response:
        """Put it away. Again changes nothing; what was taken up is 409."""
        user_id, decider = _decider(request)
        with in_http_terms(), _speaking_to(request, user_id):
            row = taking_up.dismiss(suggestion_id, decider)
            return Response(_describe([row], caller_of(request), user_id)[0])


def _decider(request: Request) -> tuple[str, Decider]:
    user_id = SuggestionWord.read(request.data)["user_id"]
    auth = caller_for(request, user_id)
    decider = Decider(
        organisation_id=auth.organisation_id, by=auth.principal, external_user_id=user_id
    )
    return user_id, decider


def _speaking_to(request: Request, user_id: str) -> AbstractContextManager[None]:
    organisation_id = caller_for(request, user_id).organisation_id
    return speaking(asked_for(request) or load_preferences(organisation_id, user_id).language)


@contextmanager
def in_http_terms() -> Iterator[None]:
    """404 for what is not there for this user, 409 for what is over."""
    try:
        yield
    except SuggestionNotFound as error:
        raise exceptions.NotFound(str(error), code="unknown_suggestion") from error
    except SuggestionOver as error:
        raise Over(str(error)) from error


def _describe(rows: list[Suggestion], auth: Caller, user_id: str) -> list[dict[str, Any]]:
    titles = suggestions.load_titles(rows)
    zone = find_zones(auth.organisation_id, [user_id]).get(user_id, "UTC") if rows else ""
    return [
        {
            "id": row.id,
            "turn_id": row.turn_id,
            "item_id": row.item_source_id,
            "kind": row.kind,
            "says": suggestions.say(row),
            "because": suggestions.explain(row),
            "title": titles.get((row.account_id, row.item_source_id), ""),
            "created_at": row.created_at,
            "when": moment(row.created_at, zone),
            "state": row.state,
            "can_be_taken_up": row.state == Suggestion.State.OPEN and not row.is_only_said,
            "decided_by": row.decided_by,
            "outcome": row.outcome,
            "action_id": row.action_id,
        }
        for row in rows
    ]
