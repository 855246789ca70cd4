from pathlib import Path
from typing import Any

import pytest

from guardrails.execute.executor import execute
from guardrails.facts.senders import SHIPPED
from guardrails.gather.security_senders import can_be_read, known_senders
from tests.guardrails.office import Office


def test_without_an_own_list_there_is_the_one_that_ships(settings: Any) -> None:
    settings.SECURITY_SENDERS_FILE = ""

    assert known_senders() == SHIPPED
    assert can_be_read(app_configs=None) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("desk.example maybe code\n", "Line 1 says “maybe” and not “dmarc” or “open”."),
        (None, "No such file or directory"),
    ],
)
def test_a_list_that_cannot_be_read_is_said_before_anything_runs(
    settings: Any, tmp_path: Path, text: str | None, why: str
) -> None:
    own = tmp_path / "senders.txt"
    if text is not None:
        own.write_text(text, encoding="utf-8")
    settings.SECURITY_SENDERS_FILE = str(own)

    [error] = can_be_read(app_configs=None)

    assert error.id == "guardrails.E001"
    assert why in error.msg


@pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
def test_mail_of_an_operators_sender_is_an_alert(
    office: Office, settings: Any, tmp_path: Path
) -> None:
    office.permit("archive")
    mail = office.receive(**{"from": "robot@desk.example"}, subject="Transfer booked")
    own = tmp_path / "senders.txt"
    own.write_text("desk.example open payment\n", encoding="utf-8")
    settings.SECURITY_SENDERS_FILE = str(own)

    asked = execute(office.request("archive", {"email_id": mail}))

    assert (asked.status, office.calls()) == ("pending", [])
    settings.SECURITY_SENDERS_FILE = ""
    done = execute(office.request("archive", {"email_id": mail}))
    assert (done.status, len(office.calls())) == ("succeeded", 1)
