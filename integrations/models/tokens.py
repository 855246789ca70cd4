"""Service tokens: who may call the API, for what, and for which users."""

import hashlib
import secrets
import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models

from integrations.models.accounts import Organisation

PREFIX = "remit_"


def digest(token: str) -> str:
    """Tokens are 256 random bits, so one SHA-256 is enough to store them by."""
    return hashlib.sha256(token.encode()).hexdigest()


class ServiceToken(models.Model):
    """A bearer token of a frontend or another system. Only its digest is stored."""

    class Scope(models.TextChoices):
        CHAT = "chat", "Chat and conversations, deciding nothing"
        SYNC = "sync", "Syncs"
        ACCOUNTS = "accounts", "Connect and disconnect mailboxes of its users"
        APPROVALS = "approvals", "Decide what waits, in a chat too"
        PAST_MAIL = "past-mail", "Run over past mail of its users, tried or for real"
        AUDIT_READ = "audit:read", "Read and export the ledger"
        POLICY = "policy", "Read policies, patterns and skills"
        LEARNING = "learning", "Approve and stop patterns and skills"
        WEBHOOKS = "webhooks", "See what became of webhooks"
        MCP = "mcp", "Search and act over MCP, as another agent"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100, help_text="Who holds it, for example “web frontend”.")
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=32, choices=Scope), default=list)
    user_ids = ArrayField(
        models.CharField(max_length=200),
        default=list,
        blank=True,
        help_text="The users it may act for. Empty: every user of the organisation.",
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    @classmethod
    def issue(cls, **fields: object) -> tuple["ServiceToken", str]:
        """Store a new token and return it with its plain text, which is shown only once."""
        plain = PREFIX + secrets.token_urlsafe(32)
        token = cls(digest=digest(plain), **fields)
        token.full_clean()
        token.save(force_insert=True)
        return token, plain
