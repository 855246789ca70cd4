"""Turns and what happened in them. A turn's whole state is these rows, so that any process
can go on with it after a crash."""

import uuid

from django.db import models

from agents.models.conversations import Conversation
from audit.ledger.ids import uuid7
from integrations.models import Account, Delivery, Organisation


class Turn(models.Model):
    """One user message or one inbound item worked through."""

    class Kind(models.TextChoices):
        CHAT = "chat", "Chat"
        INBOUND = "inbound", "Inbound item"
        AGAIN = "again", "Inbound item, looked at again"
        TRIAL = "trial", "Mail that was only tried"
        THREAD = "thread", "Thread put in order"
        REMINDER = "reminder", "Reminder"

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"

    class Ending(models.TextChoices):
        REPLY = "reply", "Reply"
        QUESTION = "question", "Question to the user"
        ESCALATED = "escalated", "Handed to a person"
        LIMIT = "limit", "A limit was reached"
        STOPPED = "stopped", "Stopped by a person"
        PATTERN = "pattern", "A learned pattern acted"
        SUGGESTED = "suggested", "Something was suggested to a person"
        TIDIED = "tidied", "Its thread was put in order"
        ERROR = "error", "Something broke"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="turns")
    external_user_id = models.CharField(max_length=200)
    kind = models.CharField(max_length=16, choices=Kind)
    conversation = models.ForeignKey(
        Conversation, null=True, blank=True, on_delete=models.CASCADE, related_name="turns"
    )
    delivery = models.OneToOneField(
        Delivery, null=True, blank=True, on_delete=models.SET_NULL, related_name="turn"
    )
    # An inbound item is worked through once, whichever delivery brings it.
    account = models.ForeignKey(
        Account, null=True, blank=True, on_delete=models.SET_NULL, related_name="turns"
    )
    item_source_id = models.CharField(max_length=500, blank=True)
    principal = models.CharField(max_length=200, blank=True, help_text="Who started it.")
    language = models.CharField(
        max_length=35, default="en", help_text="In which Remit speaks to the user: a BCP 47 tag."
    )
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    ending = models.CharField(max_length=16, choices=Ending, blank=True)
    error_code = models.CharField(max_length=64, blank=True)
    # The user's decisions about pending actions: [{"id", "decision", "digest", "result"?}],
    # with the changed `params` of an edit.
    decisions = models.JSONField(default=list, blank=True)
    # What was done or refused, as the user sees it: [{"id", "type", "description", …}].
    actions = models.JSONField(default=list, blank=True)
    # What the model was shown, numbered for citations: [{"n", "id", "source", "title", …}].
    context = models.JSONField(default=list, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    lease_owner = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    stop_asked_by = models.CharField(max_length=200, blank=True)
    stop_asked_at = models.DateTimeField(null=True, blank=True)
    last_event = models.PositiveIntegerField(default=0, help_text="How many events it has.")
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            # One turn at a time in a conversation: the second message is refused, not mixed in.
            models.UniqueConstraint(
                fields=["conversation"],
                name="turn_one_open_a_conversation",
                condition=models.Q(state__in=["queued", "running"]),
            ),
            models.UniqueConstraint(
                fields=["account", "item_source_id"],
                name="turn_one_an_inbound_item",
                condition=models.Q(kind="inbound"),
            ),
        ]
        indexes = [
            models.Index(
                fields=["lease_expires_at"],
                name="turn_unfinished",
                condition=models.Q(state__in=["queued", "running"]),
            ),
            models.Index(fields=["conversation", "-created_at"], name="turn_of_conversation"),
            models.Index(fields=["organisation", "-created_at"], name="turn_recent"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.external_user_id}"


class Step(models.Model):
    """One answer of a model (or one match of a pattern) inside a turn."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="steps")
    # The call that delegated to this agent; null for the turn's own agent.
    parent_call = models.ForeignKey(
        "agents.ToolCall", null=True, blank=True, on_delete=models.CASCADE, related_name="steps"
    )
    agent = models.CharField(max_length=64)
    number = models.PositiveIntegerField()
    text = models.TextField(blank=True)
    model = models.CharField(max_length=100, blank=True)
    finish_reason = models.CharField(max_length=32, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(max_digits=14, decimal_places=8, default=0, help_text="US dollars.")
    latency_ms = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["turn", "parent_call", "number"],
                name="step_once",
                nulls_distinct=False,
            )
        ]

    def __str__(self) -> str:
        return f"{self.agent} step {self.number}"


class ToolCall(models.Model):
    """One tool call of a step. A call without a result is open."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="calls")
    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="calls")
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=100)
    arguments = models.TextField(help_text="As the model wrote them: maybe not JSON.")
    # Made before anything is done, so that a repeated call never acts twice.
    action_id = models.UUIDField(default=uuid7, editable=False)
    result = models.JSONField(null=True, blank=True)
    latency_ms = models.PositiveIntegerField(default=0)
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        default=0,
        help_text="US dollars for models that it asked, those of a specialist included.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["step_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["step", "position"], name="tool_call_once"),
        ]

    def __str__(self) -> str:
        return self.name


class TurnEvent(models.Model):
    """What a client following the turn is shown, in order. Kept, so that a client that
    lost its connection goes on from the last sequence number it saw."""

    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="events")
    sequence = models.PositiveIntegerField()
    type = models.CharField(max_length=32)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["sequence"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "sequence"], name="turn_event_once"),
        ]

    def __str__(self) -> str:
        return f"{self.sequence} {self.type}"
