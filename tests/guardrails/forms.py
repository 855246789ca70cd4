"""What a browser sends from forms of the admin."""

from typing import Any

from tests.guardrails.office import Office


def allowed_action_form(office: Office, **changes: Any) -> dict[str, Any]:
    """To archive mails of the office's mailbox, each after asking a person."""
    values = {
        "account": office.mailbox.pk,
        "action_type": "archive",
        "resource_type": "",
        "enabled": "on",
        "approval_mode": "ask",
        "hold_seconds": "0",
    }
    return values | changes
