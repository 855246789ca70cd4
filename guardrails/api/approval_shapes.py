"""The shapes of requests and responses about approvals."""

from typing import Any

from rest_framework import serializers

from guardrails.approve.card_shapes import WaitingCard
from guardrails.models import Approval
from integrations.web.serializers import StrictCharField, StrictSerializer

REASON_MAX = 1000
BATCH_MAX = 50


class Card(WaitingCard):
    """A card with what became of it."""

    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    user_id = serializers.CharField(help_text="The user who is asked.")
    turn_id = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(choices=Approval.State.choices)
    created_at = serializers.DateTimeField()
    escalated_at = serializers.DateTimeField(allow_null=True)
    delegated_to = serializers.CharField(help_text="user:…, operator:…, group:…, or empty.")
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()
    decision_reason = serializers.CharField(help_text="What the person said about it.")
    handled = serializers.CharField(help_text="Who decided and when, in words.")
    seconds_to_decide = serializers.FloatField(allow_null=True)


class Word(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["confirm", "reject"])
    digest = StrictCharField(
        max_length=64, required=False, help_text="The digest that was shown to the person."
    )
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class BatchItem(StrictSerializer):
    id = serializers.UUIDField()
    digest = StrictCharField(max_length=64)
    decision = serializers.ChoiceField(choices=["confirm", "reject"])
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class Batch(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    items = serializers.ListField(child=BatchItem(), allow_empty=False, max_length=BATCH_MAX)

    def validate_items(self, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({item["id"] for item in items}) != len(items):
            raise serializers.ValidationError("Decide about each approval once.")
        return items


class Question(serializers.Serializer[Any]):
    """Like actions that wait together, oldest first."""

    id = serializers.UUIDField()
    heading = serializers.CharField()
    digest = serializers.CharField(help_text="Over all of them: send it back with the answer.")
    approvals = Card(many=True)


class QuestionWord(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["confirm", "reject"])
    digest = StrictCharField(max_length=64)
    without = serializers.ListField(
        child=serializers.UUIDField(),
        required=False,
        max_length=BATCH_MAX,
        help_text="Approvals of the question that are rejected although the rest is confirmed.",
    )
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class UserOf(StrictSerializer):
    user_id = StrictCharField(max_length=200)


class Change(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    arguments = serializers.DictField(
        allow_empty=False,
        help_text="The arguments to change. What is not named stays; null removes one.",
    )
    digest = StrictCharField(
        max_length=64, required=False, help_text="The digest that was shown to the person."
    )


class Decided(serializers.Serializer[Any]):
    approval = Card()
    status = serializers.CharField(help_text="succeeded, noop, refused, failed, unknown, pending")
    reason = serializers.CharField()
    sentence = serializers.CharField()
    handled = serializers.CharField(help_text="Who decided and when, in words.")
    result = serializers.DictField()


class Outcome(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    status = serializers.CharField(help_text="As of one decision, or else conflict or error.")
    reason = serializers.CharField(help_text="A code: why it was refused or not decided.")
    sentence = serializers.CharField()
    handled = serializers.CharField(help_text="Who decided and when, in words.")
    result = serializers.DictField()


class Outcomes(serializers.Serializer[Any]):
    results = Outcome(many=True)


class Delegation(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    to = StrictCharField(
        max_length=200,
        help_text="user:<id> of the same organisation, operator:<name> or group:<name>. Naming "
        "the user who is asked takes it back.",
    )
    note = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class Escalation(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class Page(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    state = serializers.ChoiceField(choices=Approval.State.choices, required=False)
    before = serializers.UUIDField(required=False)
    limit = serializers.IntegerField(min_value=1, max_value=200, default=200)
