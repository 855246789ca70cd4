"""Instructions the agent may load when it needs them. Text: it grants nothing."""

import uuid

from django.core.exceptions import ValidationError
from django.db import models

from guardrails.models.base import ValidatedModel
from integrations.models import Account, Organisation


class Skill(ValidatedModel):
    """One version of one skill. A change is a new version; old ones are kept as they were.

    A skill without an account is shared by the organisation; an account's own skill of the
    same name takes its place. A version the agent proposed is nowhere to be seen for agents
    before a person approves it.
    """

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        PUBLISHED = "published", "Published"
        REJECTED = "rejected", "Rejected"

    class ProposedBy(models.TextChoices):
        OPERATOR = "", "An operator"
        CHAT = "chat", "The agent, asked by the user in a chat"
        MAIL = "webhook", "The agent, working through a mail that nobody asked about"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation,
        on_delete=models.CASCADE,
        related_name="skills",
        help_text="Whose skill it is.",
    )
    account = models.ForeignKey(
        Account,
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="skills",
        help_text="Empty: shared by all accounts of the organisation.",
    )
    name = models.SlugField(max_length=100, help_text="How the agent asks for it.")
    description = models.CharField(
        max_length=300, help_text="When to use it, in one sentence. The agent always sees this."
    )
    content = models.TextField(
        max_length=20_000, help_text="The instructions. The agent sees them when it asks."
    )
    version = models.PositiveIntegerField(
        default=1, editable=False, help_text="Counts up with every change."
    )
    state = models.CharField(
        max_length=16,
        choices=State,
        default=State.PUBLISHED,
        editable=False,
        help_text="Agents see published versions only.",
    )
    proposed_by = models.CharField(
        max_length=16,
        blank=True,
        default=ProposedBy.OPERATOR,
        choices=ProposedBy,
        editable=False,
        help_text="Where this version comes from.",
    )
    reason = models.CharField(
        max_length=500,
        blank=True,
        editable=False,
        help_text="Why the agent proposed it. Quoted, never evidence.",
    )
    decided_by = models.CharField(
        max_length=200,
        blank=True,
        editable=False,
        help_text="The operator who approved or rejected a proposed version.",
    )
    enabled = models.BooleanField(
        default=True, help_text="The newest version decides whether the skill is offered."
    )
    use_count = models.PositiveIntegerField(
        default=0, editable=False, help_text="How often this version was loaded."
    )
    last_used_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was last loaded."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["organisation", "name", "-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["organisation", "account", "name", "version"],
                nulls_distinct=False,
                name="skill_version_once",
            ),
            models.CheckConstraint(
                condition=models.Q(version__gte=1), name="skill_version_counts_from_one"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["proposed", "published", "rejected"]),
                name="skill_state",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} · version {self.version}"

    def clean(self) -> None:
        if self.account is not None and self.account.organisation_id != self.organisation_id:
            raise ValidationError({"account": "This account belongs to another organisation."})
        stored = Skill.objects.filter(pk=self.pk).first()
        if stored is not None and self.is_changed_from(stored):
            raise ValidationError("A version is never changed. Save the change as a new version.")

    def is_changed_from(self, other: "Skill") -> bool:
        fields = ("organisation_id", "account_id", "name", "description", "content", "version")
        return any(getattr(self, name) != getattr(other, name) for name in fields)
