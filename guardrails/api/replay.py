"""The API of replays: what a draft of a policy would have changed."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.scope import accounts_of
from guardrails.decide.policy_file import with_file
from guardrails.facts.text import visible
from guardrails.policies import (
    files as policy_files,
    simulation,
    text as policy_text,
)
from guardrails.policies.simulation import Difference, Replay
from guardrails.policies.text import PolicyFileError
from integrations.models import Account
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer

MOST = 1000


class DraftAllowedAction(StrictSerializer):
    action = StrictCharField(max_length=64)
    resource = StrictCharField(max_length=32, required=False, allow_blank=True, default="")
    mode = serializers.ChoiceField(choices=["auto", "ask", "draft_only", "never"])
    enabled = serializers.BooleanField(required=False, default=True)
    conditions = serializers.ListField(
        child=serializers.DictField(), required=False, default=list, max_length=50
    )
    hold_seconds = serializers.IntegerField(min_value=0, required=False, default=0)
    patterns_unapproved = serializers.BooleanField(required=False, default=False)
    confirm_in_words = serializers.BooleanField(required=False, default=False)


class DraftGroup(StrictSerializer):
    name = StrictCharField(max_length=100)
    cardinality = serializers.ChoiceField(choices=["single", "multi"])


class DraftTarget(StrictSerializer):
    action = StrictCharField(max_length=64)
    resource = StrictCharField(max_length=32, required=False, allow_blank=True, default="")
    kind = StrictCharField(max_length=32)
    id = StrictCharField(max_length=500)
    name = StrictCharField(max_length=500)
    group = StrictCharField(max_length=100, required=False, allow_blank=True, default="")


class ReplayWish(StrictSerializer):
    """A section that is left out stays as it is, as in a policy file."""

    user_id = StrictCharField(max_length=200)
    source = StrictCharField(  # type: ignore[assignment]  # DRF takes it off the class
        max_length=32, help_text="Which of the user's accounts, such as gmail."
    )
    n = serializers.IntegerField(
        min_value=1, max_value=MOST, required=False, default=100, help_text="How far back."
    )
    of = serializers.ChoiceField(
        choices=["decisions", "mails"],
        required=False,
        default="decisions",
        help_text="The last n decisions, or those that the last n mails set off.",
    )
    allowed_actions = DraftAllowedAction(many=True, required=False)
    groups = DraftGroup(many=True, required=False)
    targets = DraftTarget(many=True, required=False)


class Differing(serializers.Serializer[Any]):
    action_id = serializers.UUIDField()
    at = serializers.DateTimeField()
    action_type = serializers.CharField()
    description = serializers.CharField()
    before = serializers.CharField(help_text="Under the present policy: allow, ask or refuse.")
    after = serializers.CharField(help_text="Under the draft.")
    sentence = serializers.CharField(help_text="What the draft says.")


class Replayed(serializers.Serializer[Any]):
    looked_at = serializers.IntegerField()
    mails = serializers.IntegerField(help_text="Mails among what set these decisions off.")
    newly_allowed = serializers.IntegerField()
    newly_asked = serializers.IntegerField()
    newly_refused = serializers.IntegerField()
    unclear = serializers.IntegerField(
        help_text="Unclear: the draft needs facts that were not read then."
    )
    differences = Differing(many=True, help_text="Newest first.")


class ReplayView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(request=ReplayWish, responses=Replayed, operation_id="policy_replay")
    def post(self, request: Request) -> Response:
        """What a draft would have changed in the past. Nothing is changed, done or asked."""
        wish = ReplayWish.read(request.data)
        last, of, source = wish.pop("n"), wish.pop("of"), wish.pop("source")
        accounts = accounts_of(request, wish.pop("user_id"))
        account = next((one for one in accounts if one.source == source), None)
        if account is None:
            raise exceptions.NotFound("There is no such account.", code="unknown_account")
        try:
            whole = policy_files.whole(
                Account.objects.get(pk=account.id), policy_text.parsed({"version": 1, **wish})
            )
        except PolicyFileError as error:
            raise exceptions.ValidationError({"policy": [visible(str(error))]}) from error
        found = simulation.replay(
            lambda policy: with_file(policy, whole, account.source),
            organisation_id=account.organisation_id,
            account_id=account.id,
            last=last,
            of=of,
        )
        return Response(Replayed(_describe(found)).data)


def _describe(replay: Replay) -> dict[str, Any]:
    return {
        "looked_at": replay.looked_at,
        "mails": replay.mails,
        "newly_allowed": len(replay.newly("allow")),
        "newly_asked": len(replay.newly("ask")),
        "newly_refused": len(replay.newly("refuse")),
        "unclear": replay.unclear,
        "differences": [_differing(one) for one in replay.differences],
    }


def _differing(one: Difference) -> dict[str, Any]:
    return {
        "action_id": one.past.recorded.action_id,
        "at": one.past.now,
        "action_type": one.past.request.action_type,
        "description": one.description,
        "before": one.before,
        "after": one.after,
        "sentence": one.sentence,
    }
