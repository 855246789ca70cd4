"""Webhooks as they were accepted, and what became of each."""

import uuid
from datetime import datetime

from django.db import models
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce, Left
from django.utils import timezone

from integrations.models.accounts import Account, Organisation


class Deliveries(models.QuerySet["Delivery"]):
    """What was done with deliveries, and those that may be worked through now or once more."""

    def waiting(self) -> "Deliveries":
        """Those that a worker may take now: queued, not postponed, and of no account that waits
        for what is away."""
        return self.filter(state=Delivery.State.QUEUED, reason="", account__outage=None)

    def count_fates(self) -> dict[str, int]:
        """How many an agent or a pattern worked through, were only read, were left alone, are
        dead letters, and are in work. One query."""
        done, state = models.Q(state=Delivery.State.PROCESSED), Delivery.State
        fates = {
            "handled": done & models.Q(turn__isnull=False),
            "read": done & models.Q(turn__isnull=True),
            "left": models.Q(state=state.SKIPPED),
            "dead": models.Q(state=state.DEAD),
            "in_work": models.Q(state__in=[state.QUEUED, state.RUNNING]),
        }
        return self.aggregate(
            **{name: models.Count("id", filter=which) for name, which in fates.items()}
        )

    def queue_again(self, *, from_: datetime) -> int:
        """Queue them with all their tries again; how many they are. They count as waiting from
        then on."""
        return self.update(
            state=Delivery.State.QUEUED,
            reason="",
            attempts=0,
            stalls=0,
            waiting_since=None,
            is_alone=False,
            finished_at=None,
            lease_expires_at=from_,
        )


class Delivery(models.Model):
    """One signed webhook. Stored before it is answered, worked through afterwards.

    received = processed + skipped + dead, and every skip and dead letter has its reason.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PROCESSED = "processed", "Processed"
        SKIPPED = "skipped", "Skipped"
        DEAD = "dead", "Dead letter"

    # The reason of those that a switch kept from being looked at.
    STOPPED = "stopped"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(
        Organisation, on_delete=models.PROTECT, related_name="deliveries"
    )
    account = models.ForeignKey(
        Account, null=True, on_delete=models.SET_NULL, related_name="deliveries"
    )
    webhook_id = models.CharField(max_length=200)
    kind = models.CharField(max_length=16)
    source = models.CharField(max_length=32)
    source_id = models.CharField(max_length=500)
    body = models.JSONField(help_text="The event as it was sent.")
    size = models.GeneratedField(
        expression=models.Func(Cast("body", models.TextField()), function="octet_length"),
        output_field=models.IntegerField(),
        db_persist=True,
        help_text="Bytes of the event.",
    )
    sender = models.GeneratedField(
        expression=Left(Coalesce(KT("body__data__from"), models.Value("")), 320),
        output_field=models.CharField(max_length=320),
        db_persist=True,
        help_text="Who a mail says that it is from.",
    )
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    reason = models.CharField(max_length=64, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    stalls = models.PositiveIntegerField(
        default=0, help_text="How often work on it began and did not end in any way."
    )
    waiting_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when it waits for what does not answer."
    )
    is_alone = models.BooleanField(
        default=False,
        help_text="It fails while others of its account do not: nobody waits behind it.",
    )
    lease_expires_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="When another process may take it: the lease of who works on it, or the "
        "wait before the next try.",
    )
    received_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = Deliveries.as_manager()

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-received_at"]
        constraints = [
            models.UniqueConstraint(fields=["organisation", "webhook_id"], name="delivery_once")
        ]
        indexes = [
            models.Index(
                fields=["lease_expires_at"],
                name="delivery_unfinished",
                condition=models.Q(state__in=["queued", "running"]),
            ),
            models.Index(fields=["organisation", "-received_at"], name="delivery_recent"),
            models.Index(fields=["-received_at"], name="delivery_newest"),
            models.Index(
                fields=["-received_at"],
                name="delivery_dead",
                condition=models.Q(state="dead"),
            ),
            models.Index(
                fields=["finished_at"],
                name="delivery_stopped",
                condition=models.Q(reason="stopped"),
            ),
            models.Index(fields=["account", "source_id"], name="delivery_item"),
            models.Index(
                fields=["account", "received_at"],
                name="delivery_in_order",
                condition=models.Q(state__in=["queued", "running"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source} {self.source_id}"


class Outage(models.Model):
    """What the deliveries of an account wait for: a provider or a model that does not answer, or a
    budget without room. While there is a row, one of them tries from time to time, and the others
    wait for what comes of that (`agents.inbound.outages`)."""

    account = models.OneToOneField(
        Account, primary_key=True, on_delete=models.CASCADE, related_name="outage"
    )
    code = models.CharField(max_length=64, help_text="What the last try met.")
    since = models.DateTimeField(default=timezone.now)
    due_at = models.DateTimeField(help_text="When it is tried again.")

    class Meta:
        ordering = ["since"]

    def __str__(self) -> str:
        return f"{self.account}: {self.code}"
