"""How the API shows conversations and their messages."""

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from agents.answer import rich_text
from agents.api.shapes import Citation
from agents.models import Conversation, Message
from integrations.web.cursors import PageFields
from integrations.web.serializers import StrictCharField


class ConversationRow(serializers.ModelSerializer[Conversation]):
    id = serializers.UUIDField(source="session_id")
    waits_for_person = serializers.BooleanField(
        help_text="It was handed to a person, who has not finished it."
    )
    waits_for_decision = serializers.BooleanField(
        help_text="An action in it waits for a yes or no: see `/api/v1/questions`."
    )

    class Meta:
        model = Conversation
        fields = [
            "id",
            "title",
            "waits_for_person",
            "waits_for_decision",
            "created_at",
            "updated_at",
        ]


class MadeCall(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    name = serializers.CharField()
    arguments = serializers.CharField(help_text="As the model wrote them: maybe not JSON.")
    success = serializers.BooleanField(allow_null=True, help_text="Null while it is open.")


class MessageMetadata(serializers.Serializer[Any]):
    tool_calls = MadeCall(many=True)
    token_count = serializers.IntegerField(help_text="Prompt and answer, over the whole turn.")
    model = serializers.CharField(help_text="Which answered last.")


class MessageRow(serializers.ModelSerializer[Message]):
    citations = Citation(many=True, source="metadata.citations", default=())
    html = serializers.SerializerMethodField(
        help_text="An answer of the assistant as HTML that is safe to show; else null."
    )
    metadata = serializers.SerializerMethodField(
        help_text="What went into an answer of the assistant; null for other messages."
    )

    class Meta:
        model = Message
        fields = [
            *("id", "turn_id", "role", "content", "html", "citations", "metadata", "created_at")
        ]

    @extend_schema_field(serializers.CharField(allow_null=True))
    def get_html(self, message: Message) -> str | None:
        if message.role != Message.Role.ASSISTANT:
            return None
        cited = message.metadata.get("citations", ())
        return rich_text.render_answer(message.content, cited, turn_id=message.turn_id)

    @extend_schema_field(MessageMetadata(allow_null=True))
    def get_metadata(self, message: Message) -> dict[str, Any] | None:
        is_answer = message.role == Message.Role.ASSISTANT
        return self.context["work"].get(message.turn_id) if is_answer else None


class ConversationsFields(PageFields):
    user_id = StrictCharField(max_length=200)


class MessagesFields(PageFields):
    tools = serializers.BooleanField(
        default=False, help_text="With what tools gave back, as messages of their own."
    )


class ConversationPage(serializers.Serializer[Any]):
    items = ConversationRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")


class MessagePage(serializers.Serializer[Any]):
    items = MessageRow(many=True)
    next_cursor = serializers.CharField(allow_null=True, help_text="Null after the last page.")
