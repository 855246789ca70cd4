"""What users and the assistant said to each other."""

import uuid

from django.db import models

from integrations.models import Organisation


class Conversation(models.Model):
    """One session of one end user. A frontend may begin it under an id of its own. That is unique
    among this user's alone: whether somebody else's session has it shows nowhere."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="conversations"
    )
    external_user_id = models.CharField(max_length=200)
    given_id = models.UUIDField(null=True, editable=False)
    title = models.CharField(max_length=120, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-updated_at"]
        permissions = [
            ("use_console", "Can chat as any user of an organisation in the console"),
            ("use_own_console", "Can chat in the console as the user that they are"),
        ]
        indexes = [
            models.Index(fields=["-updated_at"], name="conversation_newest"),
            models.Index(
                fields=["organisation", "external_user_id", "-updated_at"],
                name="conversation_recent",
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "external_user_id", "given_id"],
                name="conversation_given_once",
            )
        ]

    def __str__(self) -> str:
        return self.title or str(self.id)

    @staticmethod
    def named(session_id: uuid.UUID) -> models.Q:
        """Whose `session_id` this is, among those of one user."""
        return models.Q(id=session_id) | models.Q(given_id=session_id)

    @property
    def session_id(self) -> uuid.UUID:
        """What the API calls it."""
        return self.given_id or self.id


class Message(models.Model):
    """Every user message has exactly one assistant message: the answer of its turn. Where that
    turn was handed to a person, the person's answer follows."""

    class Role(models.TextChoices):
        USER = "user", "User"
        ASSISTANT = "assistant", "Assistant"
        PERSON = "person", "A person"
        TOOL = "tool", "Tool"  # never stored: shown of a tool call

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    conversation = models.ForeignKey(
        Conversation, on_delete=models.CASCADE, related_name="messages"
    )
    turn = models.ForeignKey("agents.Turn", on_delete=models.CASCADE, related_name="messages")
    role = models.CharField(max_length=16, choices=Role)
    content = models.TextField()
    metadata = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["created_at"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "role"], name="message_once_a_turn_and_role")
        ]
        indexes = [
            models.Index(fields=["conversation", "-created_at"], name="message_recent"),
            models.Index(fields=["-created_at"], name="message_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"


class ConversationSummary(models.Model):
    """What a model made of a conversation's older turns, up to and with `until`. Data: nobody
    said it."""

    conversation = models.OneToOneField(
        Conversation, on_delete=models.CASCADE, related_name="summary"
    )
    text = models.TextField()
    # Goes with its turn: a summary tells of nothing that was deleted.
    until = models.ForeignKey("agents.Turn", on_delete=models.CASCADE, related_name="+")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "conversation summaries"

    def __str__(self) -> str:
        return f"Summary of {self.conversation_id}"
