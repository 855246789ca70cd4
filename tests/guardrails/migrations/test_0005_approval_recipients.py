"""The update that makes recipients of who got the mail of APPROVAL_MAIL."""

import os
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from tests.database import migrated, unpooled, used_by_django

BEFORE = [("guardrails", "0004_patterns_tried")]
AFTER = [("guardrails", "0005_approval_recipients")]


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_who_got_the_mail_is_a_recipient_and_has_heard_of_what_was_announced(
    settings: Any,
) -> None:
    settings.APPROVAL_MAIL = {"berlin": "desk@company.com", "gone": "nobody@company.com"}
    at = timezone.now()
    name = f"test_takeover_{os.getpid()}"
    with migrated(name), unpooled(), used_by_django(name):
        apps = MigrationExecutor(connection).migrate(BEFORE).apps
        announced = _ask(apps, "berlin", announced_at=at)
        _ask(apps, "berlin")
        _ask(apps, "berlin", announced_at=at, state="rejected", decided_at=at)
        _ask(apps, "oslo", announced_at=at)

        apps = MigrationExecutor(connection).migrate(AFTER).apps

        recipients = apps.get_model("guardrails", "ApprovalRecipient").objects
        assert list(
            recipients.values_list(
                "organisation__slug", "name", "kind", "address", "added_by", "stopped_at"
            )
        ) == [
            (
                "berlin",
                "desk@company.com",
                "mail",
                "desk@company.com",
                "setting APPROVAL_MAIL",
                None,
            )
        ]
        notices = apps.get_model("guardrails", "ApprovalNotice").objects
        assert list(
            notices.values_list("recipient__address", "approval_id", "state", "changed_at")
        ) == [("desk@company.com", announced, "sent", at)]

        MigrationExecutor(connection).migrate(BEFORE)
        assert "guardrails_approvalrecipient" not in connection.introspection.table_names()


def _ask(apps: Any, slug: str, **fields: Any) -> Any:
    """The id of an approval as the version before kept it."""
    organisation, _ = apps.get_model("integrations", "Organisation").objects.get_or_create(
        slug=slug, defaults={"name": slug}
    )
    account, _ = apps.get_model("integrations", "Account").objects.get_or_create(
        organisation=organisation, external_user_id="maya", source="gmail"
    )
    values = {
        "action_id": uuid4(),
        "organisation": organisation,
        "account": account,
        "external_user_id": "maya",
        "action_type": "archive",
        "question": uuid4(),
        "asked": {},
        "arguments": {},
        "origin": {},
        "digest": "0" * 64,
        "policy_digest": "0" * 64,
        "description": "Archive",
    }
    return apps.get_model("guardrails", "Approval").objects.create(**(values | fields)).pk
