"""How the API shows patterns and skills, and how they are decided."""

from typing import Any, ClassVar

from django.utils import timezone
from rest_framework import serializers

from guardrails.models import LearnedPattern, Skill
from integrations.web.cursors import PageFields
from integrations.web.serializers import StrictCharField, StrictSerializer

STRANGERS = "Others may have written it: escape it."


class PatternsFields(PageFields):
    user_id = StrictCharField(max_length=200)
    state = serializers.ChoiceField(choices=LearnedPattern.State.choices, required=False)


class PatternWord(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["approve", "decline", "suspend"])
    tried_at = serializers.DateTimeField(
        required=False, help_text="To approve: the pattern's own, as it was read."
    )


class PatternStep(serializers.Serializer[Any]):
    type = serializers.CharField(source="action_type")
    title = serializers.CharField(source="get_action_type_display")
    params = serializers.DictField(source="arguments", help_text="The mail itself is filled in.")


class EvidenceCounts(serializers.Serializer[Any]):
    """Of the past mails that it would have matched."""

    supporting = serializers.IntegerField(help_text="So many were treated like that.")
    contradicting = serializers.IntegerField(help_text="So many were treated otherwise.")
    undecided = serializers.IntegerField(help_text="So many were not looked at yet.")


class PatternRow(serializers.ModelSerializer[LearnedPattern]):
    user_id = serializers.CharField(source="account.external_user_id")
    is_acting = serializers.SerializerMethodField(
        help_text="Approved, not expired, and used within 100 days."
    )
    actions = PatternStep(many=True, source="actions.all")
    evidence = EvidenceCounts(source="*")
    name = serializers.CharField(help_text=STRANGERS)
    reason = serializers.CharField(help_text=f"Why it was proposed. {STRANGERS}")

    class Meta:
        model = LearnedPattern
        fields: ClassVar = [
            *("id", "user_id", "account_id", "name", "sender_address", "sender_domain", "list_id"),
            *("subject", "actions", "state", "is_acting", "reason", "proposed_by", "evidence"),
            *("tried_at", "tried_mails", "hits", "corrections", "last_hit_at", "approved_by"),
            *("approved_at", "expires_at", "suspended_why", "created_at"),
        ]

    def get_is_acting(self, row: LearnedPattern) -> bool:
        return row.acts_at(timezone.now())


class PatternPage(serializers.Serializer[Any]):
    items = PatternRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")


class SkillsFields(PageFields):
    user_id = StrictCharField(max_length=200)
    state = serializers.ChoiceField(choices=Skill.State.choices, required=False)


class SkillWord(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["approve", "reject"])


class SkillRow(serializers.ModelSerializer[Skill]):
    account_id = serializers.UUIDField(
        allow_null=True, help_text="Null: all accounts of the organisation share it."
    )

    class Meta:
        model = Skill
        fields: ClassVar = [
            *("id", "account_id", "name", "version", "description", "content", "state", "enabled"),
            *("proposed_by", "reason", "decided_by", "use_count", "last_used_at", "created_at"),
        ]


class SkillPage(serializers.Serializer[Any]):
    items = SkillRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")
