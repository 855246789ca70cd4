"""What the agent may do with recurring mail without a model, after a person agreed."""

import hashlib
import uuid
from datetime import datetime, timedelta

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from audit.ledger.chain import canonical_bytes
from guardrails.actions import registry
from guardrails.actions.base import InvalidArguments
from guardrails.facts import subjects, targets, text
from guardrails.models.base import ValidatedModel
from integrations.models import Account

# Without a hit for so long, a pattern acts no more: nobody remembers why it was approved, and
# the sender or list may be somebody else's by now. Long enough for what comes once a quarter.
UNUSED = timedelta(days=100)


class LearnedPattern(ValidatedModel):
    """Mail like this is treated like that. Every field that is not empty must match whole;
    the sender or the list must be named. Its actions pass the same decision as all others."""

    class State(models.TextChoices):
        PROPOSED = "proposed", "Proposed"
        APPROVED = "approved", "Approved"
        SUSPENDED = "suspended", "Suspended"

    class ProposedBy(models.TextChoices):
        OPERATOR = "operator", "An operator"
        CHAT = "chat", "The agent, asked by the user in a chat"
        MAIL = "webhook", "The agent, working through a mail that nobody asked about"
        REPETITION = "repetition", "Remit, after the same decision came again and again"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    account = models.ForeignKey(
        Account,
        on_delete=models.CASCADE,
        related_name="patterns",
        help_text="Whose mail.",
    )
    name = models.CharField(max_length=200, help_text="For people.")
    sender_address = models.CharField(
        max_length=targets.MAX_ADDRESS, blank=True, help_text="The exact address of the sender."
    )
    sender_domain = models.CharField(
        max_length=targets.MAX_DOMAIN,
        blank=True,
        help_text="The exact domain of the sender. A subdomain is another domain.",
    )
    list_id = models.CharField(
        max_length=300, blank=True, help_text="The exact id of the mailing list."
    )
    subject = models.CharField(
        max_length=300,
        blank=True,
        help_text="The whole subject. Numbers, case and reply marks are ignored.",
    )
    content_type = models.CharField(
        max_length=32,
        choices=[("email", "E-mail")],
        default="email",
        help_text="What kind of item.",
    )
    digest = models.CharField(
        max_length=64, editable=False, help_text="Equal for patterns that match the same."
    )
    reason = models.TextField(
        max_length=2000, blank=True, help_text="Why it was proposed. Quoted, never evidence."
    )
    proposed_by = models.CharField(
        max_length=16,
        choices=ProposedBy,
        default=ProposedBy.OPERATOR,
        editable=False,
        help_text="Where the proposal comes from.",
    )
    example_id = models.CharField(
        max_length=500,
        blank=True,
        editable=False,
        help_text="The mail that the proposal was made from.",
    )
    state = models.CharField(
        max_length=16,
        choices=State,
        default=State.PROPOSED,
        help_text="Only an approved pattern does anything.",
    )
    approved_by = models.CharField(
        max_length=200, blank=True, editable=False, help_text="The operator who approved it."
    )
    approved_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was approved."
    )
    expires_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on it matches nothing, until it is renewed."
    )
    suspended_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was suspended."
    )
    suspended_why = models.CharField(
        max_length=500, blank=True, editable=False, help_text="Why it was suspended."
    )
    tried_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it was tried on past mail."
    )
    tried_mails = models.PositiveIntegerField(
        default=0,
        db_default=0,
        editable=False,
        help_text="On how many of the newest mails.",
    )
    tried_since = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When the oldest of them came."
    )
    hits = models.PositiveIntegerField(
        default=0, editable=False, help_text="How many items it matched."
    )
    corrections = models.PositiveIntegerField(
        default=0, editable=False, help_text="How many of them somebody put back."
    )
    last_hit_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="When it last matched."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["account", "name"]
        constraints = [
            models.UniqueConstraint(fields=["account", "digest"], name="pattern_once"),
            models.CheckConstraint(
                condition=~Q(sender_address="", sender_domain="", list_id=""),
                name="pattern_names_a_sender_or_list",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["proposed", "approved", "suspended"]), name="pattern_state"
            ),
            models.CheckConstraint(
                condition=~Q(state="approved")
                | (~Q(approved_by="") & Q(approved_at__isnull=False) & Q(expires_at__isnull=False)),
                name="pattern_approved_by_somebody_for_a_time",
            ),
            models.CheckConstraint(
                condition=Q(state="suspended", suspended_at__isnull=False)
                | (~Q(state="suspended") & Q(suspended_at__isnull=True, suspended_why="")),
                name="pattern_suspended_at_a_time",
            ),
        ]

    def __str__(self) -> str:
        return text.visible(self.name)

    def is_expired(self, now: datetime) -> bool:
        return self.state == self.State.APPROVED and not (self.expires_at and self.expires_at > now)

    def is_unused(self, now: datetime) -> bool:
        """Whether it may act, but has matched nothing for so long that it does not."""
        last = max(filter(None, (self.approved_at, self.last_hit_at)), default=None)
        return self.state == self.State.APPROVED and not (last and last > now - UNUSED)

    def acts_at(self, now: datetime) -> bool:
        return self.state == self.State.APPROVED and not (
            self.is_expired(now) or self.is_unused(now)
        )

    @property
    def precision(self) -> float | None:
        """The share of its hits that nobody put back; None before the first."""
        return 1 - self.corrections / self.hits if self.hits else None

    def clean_fields(self, exclude: object = None) -> None:
        """Brings the matcher into the form that is compared, then checks it."""
        errors = {}
        for name, canonical in (
            ("sender_address", targets.address),
            ("sender_domain", targets.domain),
            ("list_id", text.one_line),
        ):
            if value := getattr(self, name):
                try:
                    setattr(self, name, canonical(value))
                except ValueError as error:
                    errors[name] = f"“{value}” {error}."
        if errors:
            raise ValidationError(errors)
        self.subject = subjects.generalised(self.subject)
        self.digest = hashlib.sha256(
            canonical_bytes(
                [
                    self.sender_address,
                    self.sender_domain,
                    self.list_id,
                    self.subject,
                    self.content_type,
                ]
            )
        ).hexdigest()
        super().clean_fields(exclude=exclude)  # type: ignore[arg-type]  # passed through

    def clean(self) -> None:
        if not (self.sender_address or self.sender_domain or self.list_id):
            raise ValidationError("Name the sender's address, the sender's domain or the list.")


class PatternAction(ValidatedModel):
    """One thing an approved pattern does, in order. The item itself is filled in."""

    pattern = models.ForeignKey(LearnedPattern, on_delete=models.CASCADE, related_name="actions")
    order = models.PositiveSmallIntegerField(default=0, help_text="Lower numbers come first.")
    action_type = models.CharField(
        max_length=64,
        choices=registry.pattern_action_choices,
        help_text="What is done. It needs an allowed action of its own.",
    )
    arguments = models.JSONField(
        default=dict,
        blank=True,
        help_text='The arguments without the item, for example {"label_id": "Label_3"}; '
        "{} for archive.",
    )

    class Meta:
        ordering = ["pattern", "order"]
        constraints = [
            models.UniqueConstraint(fields=["pattern", "order"], name="pattern_action_once")
        ]

    def __str__(self) -> str:
        return self.get_action_type_display()

    def clean(self) -> None:
        action = registry.BY_NAME.get(self.action_type)
        if action is None or not action.in_patterns:
            return  # the field says so
        if not isinstance(self.arguments, dict):
            raise ValidationError("Arguments must be a JSON object.")
        try:
            registry.check_in_pattern(self.action_type, self.arguments)
        except InvalidArguments as error:
            raise ValidationError(f"{error}.") from error


class PatternEvidence(models.Model):
    """What became of one past mail that the pattern would have matched. Found by code, in
    the stored mail and the ledger; nothing here comes from a model."""

    class Side(models.TextChoices):
        SUPPORTING = "supporting", "Treated like that"
        CONTRADICTING = "contradicting", "Treated otherwise"
        UNDECIDED = "undecided", "Not looked at yet"

    pattern = models.ForeignKey(LearnedPattern, on_delete=models.CASCADE, related_name="evidence")
    item_id = models.CharField(max_length=500, help_text="The provider's id of the mail.")
    thread_id = models.CharField(max_length=500, blank=True)
    subject = models.CharField(max_length=500, blank=True)
    occurred_at = models.DateTimeField(help_text="When the mail was sent.")
    side = models.CharField(max_length=16, choices=Side)
    by_person = models.BooleanField(
        default=False, help_text="A person did it with their own hands, or confirmed it."
    )
    seen = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The agent did it; the user read the mail and left it so.",
    )
    occasion = models.CharField(
        max_length=64,
        blank=True,
        default="",
        db_default="",
        help_text="In which run it was done, or by hand on which day of mail.",
    )
    sentence = models.CharField(max_length=1000, help_text="What was done with it, in words.")

    class Meta:
        ordering = ["-occurred_at", "item_id"]
        constraints = [
            models.UniqueConstraint(fields=["pattern", "item_id"], name="pattern_evidence_once")
        ]

    def __str__(self) -> str:
        return self.sentence


class PatternHit(models.Model):
    """One mail that a pattern acted on, until somebody puts it back."""

    pattern = models.ForeignKey(LearnedPattern, on_delete=models.CASCADE, related_name="hit_rows")
    account = models.ForeignKey(Account, on_delete=models.CASCADE, related_name="+", db_index=False)
    item_id = models.CharField(max_length=500, help_text="The provider's id of the mail.")
    subject = models.CharField(max_length=500, blank=True)
    turn_id = models.CharField(max_length=64, help_text="The turn it acted in.")
    at = models.DateTimeField()
    corrected_at = models.DateTimeField(null=True, blank=True)
    correction = models.CharField(
        max_length=500, blank=True, help_text="What somebody put back, in words."
    )

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(fields=["pattern", "item_id"], name="pattern_hit_once")
        ]
        indexes = [models.Index(fields=["account", "item_id"], name="pattern_hit_of_item")]

    def __str__(self) -> str:
        return f"{self.pattern_id} on {self.item_id}"
