"""Runs over past mail over HTTP. What a run does is tried in `tests/stories/test_past_mail.py`."""

import json
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from django_q.models import OrmQ

from agents.models import PastMail, PastRun, Turn
from integrations.models import Account, Organisation, ServiceToken
from knowledge.models import Item

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
RUNS = "/api/v1/past-runs"


@pytest.fixture
def account() -> Account:
    organisation = Organisation.objects.create(slug="default", name="Default")
    row = Account.objects.create(
        organisation=organisation,
        external_user_id="maya",
        source="gmail",
        address="maya@company.com",
        time_zone="Europe/Berlin",
    )
    now = timezone.now()
    Item.objects.bulk_create(
        Item(
            account=row,
            source="gmail",
            source_id=f"m{number}",
            content_type="email",
            title=f"Mail {number}",
            sender_address="ann@client.example",
            occurred_at=now - timedelta(days=number),
            ingested_at=now,
            metadata={"labels": ["INBOX"] if number else ["Label_1"], "thread_id": f"t{number}"},
        )
        for number in range(5)
    )
    return row


def issue(account: Account, *scopes: str, users: Any = ()) -> str:
    return ServiceToken.issue(
        organisation=account.organisation,
        name="web",
        scopes=list(scopes or ("past-mail",)),
        user_ids=list(users),
    )[1]


def ask(token: str, path: str, body: Any = None, *, method: str = "post") -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    if method == "get":
        return Client().get(path, body or {}, headers=headers)
    data = json.dumps(body or {})
    return Client().post(path, data, content_type="application/json", headers=headers)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def test_a_trial_is_started_and_read_and_begins_as_one(account: Account) -> None:
    token = issue(account)

    answer = ask(token, f"{RUNS}/try", {"user_id": "maya", "last": 3, "writes_drafts": True})

    assert answer.status_code == 202
    run = PastRun.objects.get()
    assert (run.is_trial, run.last, run.writes_drafts, run.account_id) == (
        True,
        3,
        True,
        account.id,
    )
    assert run.started_by.startswith("token:")
    assert OrmQ.objects.count() == 1
    found = ask(token, f"{RUNS}/{run.id}", method="get").json()
    assert found == answer.json()
    assert found["state"] == "queued"
    assert found["progress"] == {"total": 3, "done": 0, "percent": 0, "skipped": {}, "failed": {}}
    assert found["figures"]["actions"] == []


def test_a_run_for_real_takes_days_and_a_folder(account: Account) -> None:
    day = (timezone.now() - timedelta(days=2)).date().isoformat()
    wish = {"user_id": "maya", "account_id": str(account.id), "since": day, "folder": "Label_1"}

    answer = ask(issue(account), RUNS, wish)

    assert (answer.status_code, answer.json()["is_trial"]) == (202, False)
    assert [one.source_id for one in PastMail.objects.all()] == ["m0"]


def test_its_figures_are_those_of_the_page(account: Account) -> None:
    token = issue(account)
    run = PastRun.objects.get(id=ask(token, f"{RUNS}/try", {"user_id": "maya"}).json()["id"])
    acts = [
        {"type": "archive", "params": {"email_id": "m"}, "status": "succeeded", "sentence": ""},
        {
            "type": "classify",
            "params": {"email_id": "m", "label_id": "Label_1"},
            "status": "refused",
            "sentence": "It is not allowed.",
        },
    ]
    for mail, actions in zip(PastMail.objects.all()[:2], ([], acts), strict=True):
        turn = Turn.objects.create(
            organisation=account.organisation,
            external_user_id="maya",
            account=account,
            item_source_id=mail.source_id,
            kind="trial",
            actions=actions,
        )
        PastMail.objects.filter(id=mail.id).update(state="done", turn=turn)

    found = ask(token, f"{RUNS}/{run.id}", method="get").json()

    assert found["progress"]["percent"] == 40
    figures = found["figures"]
    assert (figures["looked_at"], figures["left_alone"]) == (2, 1)
    archived, labelled = figures["actions"]
    assert (archived["title"], archived["done"], archived["refused"]) == ("Archive a mail", 1, 0)
    assert (labelled["place"], labelled["refused"]) == ("Label_1", 1)
    assert labelled["reasons"] == [{"sentence": "It is not allowed.", "number": 1}]
    assert labelled["examples"][0]["sender"] == "ann@client.example"


def test_it_is_paused_goes_on_and_is_stopped(account: Account) -> None:
    token = issue(account)
    run = f"{RUNS}/{ask(token, f'{RUNS}/try', {'user_id': 'maya'}).json()['id']}"

    assert ask(token, f"{run}/pause").json()["state"] == "paused"
    assert code(ask(token, f"{run}/pause")) == (409, "past_run_moved")
    assert code(ask(token, RUNS, {"user_id": "maya"})) == (409, "past_run_open")
    queued = OrmQ.objects.count()
    assert ask(token, f"{run}/resume").json()["state"] == "queued"
    assert OrmQ.objects.count() == queued + 1
    assert code(ask(token, f"{run}/resume")) == (409, "past_run_moved")
    stopped = ask(token, f"{run}/stop").json()
    assert (stopped["state"], stopped["finished_at"] is None) == ("stopped", False)
    assert code(ask(token, f"{run}/stop")) == (409, "past_run_moved")


def test_runs_are_listed_newest_first_page_by_page(account: Account) -> None:
    token = issue(account)
    made = []
    for _ in range(3):
        made.append(ask(token, f"{RUNS}/try", {"user_id": "maya"}).json()["id"])
        ask(token, f"{RUNS}/{made[-1]}/stop")

    first = ask(token, RUNS, {"user_id": "maya", "limit": 2}, method="get").json()
    rest = ask(
        token, RUNS, {"user_id": "maya", "cursor": first["next_cursor"]}, method="get"
    ).json()

    assert [one["id"] for one in (*first["items"], *rest["items"])] == made[::-1]
    assert rest["next_cursor"] is None
    junk = ask(token, RUNS, {"user_id": "maya", "cursor": "x"}, method="get")
    assert code(junk) == (400, "invalid")


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ({"user_id": "nobody"}, (404, "unknown_account")),
        ({"user_id": "maya", "account_id": str(uuid4())}, (404, "unknown_account")),
        ({"user_id": "maya", "folder": "none"}, (422, "no_mail")),
        ({"user_id": "maya", "last": 0}, (400, "invalid")),
        ({"user_id": "maya", "last": 10_001}, (400, "invalid")),
        ({"user_id": "maya", "since": "2026-02-02", "until": "2026-02-01"}, (400, "invalid")),
        ({"user_id": "maya", "is_trial": False}, (400, "invalid")),
        ({}, (400, "invalid")),
    ],
)
def test_what_cannot_be_is_refused_and_starts_nothing(
    account: Account, wish: dict[str, Any], expected: tuple[int, str]
) -> None:
    for path in (RUNS, f"{RUNS}/try"):
        assert code(ask(issue(account), path, wish)) == expected
    assert not PastRun.objects.exists()


def test_it_needs_a_scope_of_its_own_and_the_user(account: Account) -> None:
    others = set(ServiceToken.Scope.values) - {"past-mail"}
    run = ask(issue(account), f"{RUNS}/try", {"user_id": "maya"}).json()["id"]
    omar = issue(account, users=["omar"])

    for path in (RUNS, f"{RUNS}/try", f"{RUNS}/{run}/stop"):
        refused = ask(issue(account, *others), path, {"user_id": "maya"})
        assert code(refused) == (403, "permission_denied")
    for name in ("pause", "resume", "stop"):
        assert code(ask(omar, f"{RUNS}/{run}/{name}")) == (404, "unknown_past_run")
    assert code(ask(omar, f"{RUNS}/{run}", method="get")) == (404, "unknown_past_run")
    assert code(ask(omar, RUNS, {"user_id": "maya"})) == (404, "unknown_user")
    assert PastRun.objects.get().state == "queued"
