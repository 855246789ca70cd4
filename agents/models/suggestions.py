"""What agents suggest to people about what arrived. Nothing of it is done until a person takes it
up."""

from django.db import models

from agents.models.turns import Turn
from audit.ledger.ids import uuid7
from integrations.models import Account


class Suggestion(models.Model):
    """One thing that a person can take up with one click, chosen among what code worked out.
    Written by `agents.journal.suggestions` and `agents.inbound.taking_up`."""

    class Kind(models.TextChoices):
        ANSWER = "answer", "Answer to an invitation"
        TIME = "time", "Another time for an invitation"
        COMPONENT = "component", "Component of an issue"
        LABEL = "label", "Label of an issue"
        PRIORITY = "priority", "Priority of an issue"
        DUPLICATE = "duplicate", "Issue that an issue repeats"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        TAKEN_UP = "taken_up", "Taken up"
        DISMISSED = "dismissed", "Dismissed"
        OUT_OF_DATE = "out_of_date", "Out of date"

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="suggestions")
    turn = models.ForeignKey(Turn, on_delete=models.CASCADE, related_name="suggestions")
    position = models.PositiveSmallIntegerField(help_text="Among those of its turn.")
    item_source_id = models.CharField(max_length=500)
    object_id = models.CharField(max_length=500, help_text="What the action names it by.")
    kind = models.CharField(max_length=16, choices=Kind)
    value = models.JSONField(help_text="The arguments of the action, without what it is about.")
    about = models.CharField(max_length=300, blank=True, help_text="In a stranger's words.")
    reasons = models.JSONField(
        null=True, blank=True, help_text="Why, as values: said in the language of who reads it."
    )
    basis = models.CharField(max_length=500, help_text="What it rests on. Other: out of date.")
    revision = models.CharField(
        max_length=500, blank=True, help_text="Of the item, as it was seen."
    )
    state = models.CharField(max_length=16, choices=State, default=State.OPEN)
    action_id = models.UUIDField(
        null=True, blank=True, unique=True, help_text="In the ledger, once somebody took it up."
    )
    decided_by = models.CharField(max_length=200, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    outcome = models.TextField(blank=True, help_text="What became of it, for people.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["turn_id", "position"]
        constraints = [
            models.UniqueConstraint(fields=["turn", "position"], name="suggestion_once"),
        ]
        indexes = [
            models.Index(fields=["account", "item_source_id"], name="suggestion_of_item"),
            models.Index(
                fields=["account", "kind"],
                name="suggestion_open",
                condition=models.Q(state="open"),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} ({self.get_state_display().lower()})"

    @property
    def is_only_said(self) -> bool:
        """The item's provider has nothing that Remit could set for it: a person does it there."""
        return bool((self.reasons or {}).get("is_only_said"))
