"""The shapes of requests and responses about approvals."""

from typing import Any

from rest_framework import serializers

from guardrails.models import Approval
from integrations.web.serializers import StrictCharField, StrictSerializer

REASON_MAX = 1000
BATCH_MAX = 50


class Value(serializers.Serializer[Any]):
    path = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    text = serializers.CharField(help_text="In full, with hidden characters shown.")
    provenance = serializers.CharField(help_text="Where it comes from, in words.")
    is_target = serializers.BooleanField(help_text="It decides where the action goes.")
    is_new = serializers.BooleanField(help_text="A target that nobody typed or listed.")


class Exposed(serializers.Serializer[Any]):
    """What others get to see by the action: one object, or text that is put into it."""

    kind = serializers.CharField()
    title = serializers.CharField(help_text="Somebody's words, in quotation marks.")
    owner = serializers.CharField()
    newcomers = serializers.ListField(
        child=serializers.CharField(), help_text="Who sees it from then on, each with their role."
    )
    readers = serializers.ListField(child=serializers.CharField(), help_text="Who sees it now.")
    adds = serializers.BooleanField(help_text="Text is put into it; its readers stay the same.")
    named = serializers.CharField(help_text="How the user named it, in words.")
    is_new = serializers.BooleanField(help_text="Nobody named it in this request.")
    written = serializers.CharField(help_text="Who wrote it, in words.")
    sensitive = serializers.ListField(child=serializers.CharField())
    passage = serializers.CharField(help_text="The beginning of what they read.")
    chars = serializers.IntegerField(help_text="How long all of it is.")
    lines = serializers.ListField(
        child=serializers.CharField(), help_text="All of it in words, what matters most first."
    )


class Card(serializers.Serializer[Any]):
    """What a person is shown: show all of it, and nothing of the model's beside it."""

    id = serializers.UUIDField()
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    user_id = serializers.CharField(help_text="The user who is asked.")
    turn_id = serializers.CharField()
    type = serializers.CharField()
    title = serializers.CharField()
    heading = serializers.CharField(
        help_text="What would be done and to whom, in Remit's own words. Show it first, whole."
    )
    about = serializers.CharField(
        help_text="What somebody called it, in quotation marks: not Remit's words. Or empty."
    )
    description = serializers.CharField(help_text="Both in one line.")
    params = serializers.DictField(help_text="The arguments: exactly these are executed.")
    provenance = serializers.DictField(
        child=serializers.CharField(), help_text="Where each value comes from, in words."
    )
    values = Value(many=True, help_text="The arguments as people should see them, targets first.")
    exposures = Exposed(many=True, help_text="What others get to see by it.")
    user_said = serializers.CharField(help_text="What the user typed in that request.")
    question = serializers.UUIDField(help_text="Like actions that wait are one question.")
    text = serializers.CharField(help_text="The whole card as plain lines, what decides first.")
    differences = serializers.ListField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="What is there now and what there would be: [what, before, after].",
    )
    side_effects = serializers.ListField(child=serializers.CharField())
    revises = serializers.UUIDField(
        allow_null=True, help_text="The approval that a person changed into this one."
    )
    proposed = serializers.DictField(
        help_text="What the agent proposed, where a person has changed it; else empty."
    )
    digest = serializers.CharField(help_text="Send it back to bind the answer to what was shown.")
    state = serializers.ChoiceField(choices=Approval.State.choices)
    reason = serializers.CharField(help_text="Why a person is asked.")
    agent_said = serializers.CharField(help_text="The model's own reason. It is not evidence.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    escalated_at = serializers.DateTimeField(allow_null=True)
    delegated_to = serializers.CharField(help_text="user:…, operator:…, group:…, or empty.")
    delegated = serializers.CharField(help_text="To whom and by whom, in words.")
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
