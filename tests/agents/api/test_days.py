from datetime import date
from typing import Any

import pytest
from django.test import Client

from integrations.models import Account, ServiceToken
from tests.agents.activity.test_digest_mail import came, noon
from tests.agents.pages import mailbox

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def ask(account: Account, *, language: str = "", **query: str) -> Any:
    token = ServiceToken.issue(
        organisation=account.organisation, name="web", scopes=["chat"], user_ids=["maya"]
    )[1]
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": language}
    return Client().get("/api/v1/days", query, headers=headers)


def test_a_frontend_reads_a_users_day() -> None:
    account = mailbox()
    came(account, 1, noon(), ("succeeded", "succeeded"))
    came(mailbox(slug="other"), 2, noon(), ("succeeded", "succeeded"))

    found = ask(account, user_id="maya", day="2026-11-25").json()

    assert (found["day"], found["time_zone"], found["number"]) == ("2026-11-25", "UTC", 1)
    [part] = found["parts"]
    assert (part["outcome"], part["number"]) == ("done", 1)
    [row] = part["newest"]
    assert (row["time"], row["who"], row["title"]) == ("12:00", "Ines Braun", "Mail 1")
    assert row["done"] == [{"what": "Archive “Offer”", "status": "done", "why": ""}]
    assert (found["waits"], found["waiting"]) == (0, [])
    german = ask(account, language="de", user_id="maya", day="2026-11-25").json()
    assert german["parts"][0]["title"] == "Erledigt"
    assert german["parts"][0]["newest"][0]["done"][0]["status"] == "erledigt"
    assert date.fromisoformat(ask(account, user_id="maya").json()["day"]) > date(2026, 1, 1)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ({"user_id": "omar"}, 404),
        ({}, 400),
        ({"user_id": "maya", "day": "junk"}, 400),
        ({"user_id": "maya", "day": "0001-01-01"}, 400),
        ({"user_id": "maya", "day": "9999-12-31"}, 400),
    ],
)
def test_another_user_and_no_day_are_refused(query: dict[str, str], status: int) -> None:
    assert ask(mailbox(), **query).status_code == status
