"""One row of any model for an organisation, filled in by what the model says of itself."""

from datetime import date
from typing import Any
from uuid import uuid4

from django.contrib.auth.models import User
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from audit.ledger.ids import uuid7
from integrations.models import Account, Organisation

# What a model's own checks ask for beyond its types.
GIVEN: dict[str, dict[str, Any]] = {
    "integrations.Account": {"source": "gmail", "time_zone": "UTC"},
    "agents.Suggestion": {"value": {"answer": "accepted"}},
    "guardrails.Approval": {"origin": {"trigger": "chat"}},
    "guardrails.HeldSend": {"origin": {"trigger": "chat"}},
    "guardrails.KillSwitch": {"lifted_by": "", "lifted_why": ""},
    "guardrails.LearnedPattern": {"suspended_why": ""},
    "integrations.Budget": {"external_user_id": ""},
    "guardrails.CeilingLimit": {"at_most": "never"},
    "guardrails.AllowedAction": {"action_type": "archive"},
    "guardrails.AllowedActionOption": {
        "action_type": "send_email",
        "source": "gmail",
        "kind": "recipient",
        "external_id": "ada@client.com",
    },
}


class Rows:
    """Rows of one organisation, one of each model. Every text in them has `mark` in it."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.made: dict[type[models.Model], models.Model] = {}
        self.organisation = Organisation.objects.create(slug=mark, name=f"{mark} Ltd")
        self.made[Organisation] = self.organisation

    def of(self, model: type[models.Model]) -> Any:
        if model not in self.made:
            given = GIVEN.get(model._meta.label, {})
            row = model(
                **{
                    field.name: given[field.name] if field.name in given else self._value(field)
                    for field in model._meta.concrete_fields
                    if field.name in given or self._is_wanted(field)
                }
            )
            if isinstance(row, Account):
                row.clean()
            # What a form would refuse is no matter here.
            row.save_base(raw=True, force_insert=True)
            self.made[model] = row
        return self.made[model]

    def _is_wanted(self, field: Any) -> bool:
        if field.is_relation:
            # A row that may belong to nobody belongs to this organisation here.
            return not field.null or field.related_model in (Organisation, Account)
        is_text = isinstance(field, models.CharField | models.TextField) and not field.choices
        if field.name == "tenant_id":
            return True
        if field.primary_key:
            return not field.has_default()
        return is_text or not (field.null or field.has_default())

    def _value(self, field: Any) -> Any:
        if field.name == "tenant_id":
            return self.organisation.id
        if field.name == "action_id" and isinstance(field, models.UUIDField):
            return uuid7()
        if field.is_relation:
            related = field.related_model
            return (
                User.objects.create(username=str(uuid4())) if related is User else self.of(related)
            )
        if isinstance(field, models.AutoField):
            return uuid4().int % 10**12 + 10**12  # long, so that it is found in a page
        if field.choices:
            return field.flatchoices[0][0]
        kinds: list[tuple[type, Any]] = [
            (models.GenericIPAddressField, "127.0.0.1"),
            (models.UUIDField, uuid4()),
            (models.DateTimeField, timezone.now()),
            (models.DateField, date(2026, 1, 5)),
            (models.BooleanField, False),
            (models.IntegerField, 1),
            (models.FloatField, 1.0),
            (models.DecimalField, 1),
            (models.JSONField, {}),
            (ArrayField, []),
            (models.BinaryField, b""),
        ]
        for kind, value in kinds:
            if isinstance(field, kind):
                return value
        unique = uuid4().hex[:8]
        return f"{self.mark}-{unique}"[: field.max_length] if field.max_length else self.mark
