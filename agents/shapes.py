"""The shapes of the chat API's requests and responses."""

from typing import Any

from rest_framework import serializers

from agents.models import Conversation, Message
from integrations.serializers import StrictCharField, StrictSerializer

MESSAGE_MAX = 20_000


class ChatRequest(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    session_id = serializers.UUIDField(required=False, allow_null=True)
    message = StrictCharField(
        max_length=MESSAGE_MAX,
        allow_blank=True,
        help_text="What the user typed. May be empty when actions are confirmed or rejected.",
    )
    confirm_actions = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, max_length=50
    )
    reject_actions = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, max_length=50
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        confirmed = attrs.get("confirm_actions") or []
        rejected = attrs.get("reject_actions") or []
        if set(confirmed) & set(rejected):
            raise serializers.ValidationError(
                {"confirm_actions": ["An action cannot be confirmed and rejected at once."]}
            )
        if not attrs["message"].strip() and not confirmed and not rejected:
            raise serializers.ValidationError({"message": ["Write a message."]})
        return attrs


class ContextUsed(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    title = serializers.CharField()
    relevance = serializers.FloatField()


class PendingAction(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    type = serializers.CharField()
    description = serializers.CharField()
    params = serializers.DictField()
    digest = serializers.CharField()
    provenance = serializers.DictField()
    side_effects = serializers.ListField(child=serializers.CharField())
    reason = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)


class CompletedAction(serializers.Serializer[Any]):
    id = serializers.UUIDField(help_text="As it was named while it was pending.")
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    type = serializers.CharField()
    description = serializers.CharField()
    params = serializers.DictField()
    status = serializers.CharField()
    sentence = serializers.CharField()
    result = serializers.DictField()
    artifacts = serializers.ListField(child=serializers.DictField())


class Clarification(serializers.Serializer[Any]):
    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    required_for = serializers.CharField()


class ChatResponse(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    turn_id = serializers.UUIDField()
    message_id = serializers.CharField()
    status = serializers.CharField(help_text="queued, running, finished or failed")
    response = serializers.CharField()
    context_used = ContextUsed(many=True)
    pending_actions = PendingAction(many=True)
    completed_actions = CompletedAction(many=True)
    refused_actions = CompletedAction(many=True)
    needs_clarification = serializers.BooleanField()
    clarification = Clarification(allow_null=True)


class StreamStarted(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    turn_id = serializers.UUIDField()
    stream_url = serializers.CharField(
        help_text="Server-sent events; valid for an hour; resumes from Last-Event-ID."
    )


class ConversationRow(serializers.ModelSerializer[Conversation]):
    class Meta:
        model = Conversation
        fields = ["id", "title", "created_at", "updated_at"]


class MessageRow(serializers.ModelSerializer[Message]):
    class Meta:
        model = Message
        fields = ["id", "turn_id", "role", "content", "created_at"]


class ToolRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()


class AgentRow(serializers.Serializer[Any]):
    name = serializers.CharField()
    max_steps = serializers.IntegerField()
    tools = ToolRow(many=True)


class StatusResponse(serializers.Serializer[Any]):
    chat_model = serializers.CharField()
    model_is_offline = serializers.BooleanField(
        help_text="True: written rules answer, not a language model."
    )
    agents = AgentRow(many=True)
