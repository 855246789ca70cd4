"""The shapes of actions in the chat API: what waits, what was done and what was refused."""

from typing import Any

from rest_framework import serializers


class HandledAction(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    description = serializers.CharField()
    handled = serializers.CharField(help_text="Who decided and when, in words.")


class PendingQuestion(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    heading = serializers.CharField()
    digest = serializers.CharField(help_text="Over all of its actions.")
    actions = serializers.ListField(child=serializers.UUIDField())


class CompletedAction(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="The id it had while it was pending.")
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    type = serializers.CharField()
    description = serializers.CharField()
    params = serializers.DictField()
    status = serializers.CharField()
    sentence = serializers.CharField()
    result = serializers.DictField()
    artifacts = serializers.ListField(child=serializers.DictField())
    handled = serializers.CharField(help_text="Who decided and when, where a person was asked.")


class AskedFor(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    state = serializers.CharField(help_text="open, approved or declined")
    sentence = serializers.CharField(help_text="How far it is, in words.")


class RefusedAction(CompletedAction):
    times = serializers.IntegerField(help_text="How many such actions this line stands for.")
    can_be_asked_for = serializers.BooleanField(
        help_text="The user may ask operators to permit it: `POST /api/v1/change-requests`."
    )
    change_request = AskedFor(
        allow_null=True, help_text="What became of the user's asking, if they have."
    )


class HeldAction(CompletedAction):
    held_send_id = serializers.UUIDField(help_text="To recall it.")
    held_until = serializers.DateTimeField(help_text="Until then it can be recalled.")
