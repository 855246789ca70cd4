"""What the ledger's API takes and answers."""

from typing import Any, ClassVar

from rest_framework import serializers

from audit.contracts import Status
from audit.formats.export import FORMATS
from audit.ledger import selectors
from audit.models import ExecutedAgentAction, choices


class FilterFields(serializers.Serializer[Any]):
    """Which actions: the parameters that list and export share."""

    user_id = serializers.CharField(required=False, help_text="Actions on behalf of this user.")
    account_id = serializers.UUIDField(required=False)
    action_type = serializers.CharField(required=False)
    status = serializers.ChoiceField(
        choices=choices(Status), required=False, help_text="As of the action's latest phase."
    )
    run_id = serializers.CharField(required=False, help_text="The turn.")
    since = serializers.DateTimeField(
        required=False, help_text="Asked for at or after this time; UTC without a zone."
    )
    until = serializers.DateTimeField(required=False, help_text="Asked for before this time.")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if unknown := sorted(set(self.initial_data) - set(self.fields)):
            raise serializers.ValidationError({unknown[0]: "There is no such parameter."})
        since, until = attrs.get("since"), attrs.get("until")
        if since and until and until <= since:
            raise serializers.ValidationError({"until": "It must be after `since`."})
        return attrs


class ListFields(FilterFields):
    cursor = serializers.UUIDField(required=False, help_text="`next_cursor` of the page before.")
    limit = serializers.IntegerField(min_value=1, max_value=200, default=50)


class ExportFields(FilterFields):
    format = serializers.ChoiceField(choices=sorted(FORMATS), default="jsonl")


class BundleFields(FilterFields):
    with_derived = serializers.BooleanField(
        default=False, help_text="Also a report for people, and the rows as CSV."
    )


class FeedFields(serializers.Serializer[Any]):
    place = serializers.IntegerField(
        min_value=0, default=0, help_text="Rows from this place on: `next_place` of the last page."
    )
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=200)
    format = serializers.ChoiceField(
        choices=["json", "ocsf"], default="json", help_text="Rows, or OCSF 1.6.0 API Activity."
    )


class ArtifactFields(serializers.Serializer[Any]):
    kind = serializers.CharField()
    provider = serializers.CharField()
    external_id = serializers.CharField()
    url = serializers.CharField(allow_blank=True)


class PhaseFields(serializers.ModelSerializer[ExecutedAgentAction]):
    """One phase of one action."""

    payload = serializers.DictField(help_text="Parameters, decision, answers; empty if erased.")
    resource_id = serializers.CharField(allow_blank=True)
    target_id = serializers.CharField(allow_blank=True)
    artifacts = ArtifactFields(many=True)

    class Meta:
        model = ExecutedAgentAction
        fields: ClassVar = [
            *selectors.COLUMNS,
            "resource_id",
            "target_id",
            "payload",
            "artifacts",
        ]


class LedgerPage(serializers.Serializer[Any]):
    items = PhaseFields(many=True, help_text="Actions by their latest phase, newest first.")
    next_cursor = serializers.UUIDField(allow_null=True)


class LedgerTimeline(serializers.Serializer[Any]):
    items = PhaseFields(many=True, help_text="Every phase, oldest first.")


class LedgerFeed(serializers.Serializer[Any]):
    items = serializers.ListField(child=serializers.DictField(), help_text="In order of place.")
    left = serializers.ListField(
        child=serializers.IntegerField(), help_text="Places whose rows left by retention."
    )
    next_place = serializers.IntegerField(help_text="Ask from here next time.")
    size = serializers.IntegerField(help_text="How many rows are sealed now.")
