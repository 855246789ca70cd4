"""New mail where none may be sent: it is drafted, said so, listed and taken back; and what nobody
permits is neither sent nor drafted."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import httpx
import pytest
from django.db.models import QuerySet
from django.urls import reverse

from audit.ledger.selectors import recorded
from audit.models import ExecutedAgentAction
from guardrails.models import AllowedAction, AllowedActionOption, AssistantDraft, CeilingLimit
from integrations.models import Account, ServiceToken
from tests.clients import log_in_superuser, read_page
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_drafts import INGEST, READER, drafts, summary

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ADA, STRANGER = "ada@client.com", "mallory@evil.example"
WISH = f"Write to {ADA} about the budget: we agree."
ONLY_DRAFTS = "Nothing may be sent. A mail may be drafted, and the user sends it."


class Maya:
    """Her frontend."""

    def __init__(self, office: Office) -> None:
        self.office = office
        _, self.token = ServiceToken.issue(
            organisation=office.organisation, name="web", scopes=["chat", "approvals"]
        )

    def post(self, path: str, **body: Any) -> dict[str, Any]:
        return self._call("POST", path, json={"user_id": "maya", **body})

    def get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path, params={"user_id": "maya"})

    def says(self, message: str) -> dict[str, Any]:
        return self.post("chat", message=message)

    def _call(self, method: str, path: str, **given: Any) -> dict[str, Any]:
        answer = httpx.request(
            method,
            f"{self.office.origin}/api/v1/{path}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=60,
            **given,
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


class Ledger:
    def __init__(self) -> None:
        self.last = ExecutedAgentAction.objects.latest("id").id
        self.old = set(AssistantDraft.objects.values_list("pk", flat=True))

    @property
    def rows(self) -> QuerySet[ExecutedAgentAction]:
        found = ExecutedAgentAction.objects.filter(id__gt=self.last)
        return found.filter(action_type__in=["send_email", "draft"]).order_by("id")

    @property
    def said(self) -> list[tuple[str, str, str]]:
        return [(one.action_type, one.phase, one.decision_reason) for one in self.rows]

    @property
    def drafts(self) -> QuerySet[AssistantDraft]:
        return AssistantDraft.objects.exclude(pk__in=self.old)


@pytest.fixture(autouse=True)
def ledger(office: Office) -> Ledger:
    """What is written from now on: the demo office has a past."""
    return Ledger()


@pytest.fixture
def maya(office: Office) -> Maya:
    return Maya(office)


def by_ceiling(office: Office) -> None:
    CeilingLimit.objects.create(
        organisation=office.organisation, action_type="send_email", at_most="draft_only"
    )


def by_rule(office: Office) -> None:
    rows = AllowedAction.objects.filter(
        account__external_user_id="maya", account__source="gmail", action_type="send_email"
    )
    assert rows.update(approval_mode="draft_only") == 1


def sent(office: Office) -> list[str]:
    return [one["path"] for one in office.calls() if one["path"].endswith("/send")]


REFUSED = ("send_email", "blocked", "draft_only")
DRAFTED = [("draft", "attempt", "allowed"), ("draft", "outcome", "performed")]


@pytest.mark.parametrize("limit", [by_ceiling, by_rule], ids=["ceiling", "allowed action"])
def test_what_may_not_be_sent_lies_in_the_drafts_and_can_be_taken_back(
    office: Office, maya: Maya, ledger: Ledger, limit: Callable[[Office], None]
) -> None:
    limit(office)
    before = set(drafts(office))

    answer = maya.says(WISH)

    assert (
        f"I sent nothing. Here mail may only be drafted. The mail to {ADA} waits in your drafts"
        in answer["response"]
    )
    assert f"refused, not done. {ONLY_DRAFTS}" in answer["response"]
    assert "Correction" not in answer["response"]  # it says as it is
    [new] = set(drafts(office)) - before
    assert drafts(office)[new].startswith("We agree.")
    assert sent(office) == []
    assert ledger.said == [REFUSED, *DRAFTED]
    row = ledger.drafts.get()
    assert (row.draft_id, row.reply_to_id, row.receivers) == (new, "", [ADA])
    assert (row.of_own_accord, row.state, row.thread_id != "") == (False, "pending", True)
    [listed] = maya.get("drafts")["items"]
    assert (listed["draft_id"], listed["reply_to_id"]) == (new, "")
    page = read_page(log_in_superuser("olga"), reverse("console-drafts"), user="maya")
    assert f"New mail to <bdi>{ADA}</bdi>" in page
    assert "because you asked for it" in page

    back = maya.post(f"actions/{row.action_id}/undo")

    assert (back["type"], back["status"]) == ("delete_draft", "succeeded")
    assert set(drafts(office)) == before
    assert sent(office) == []


def test_it_is_said_in_german_too(office: Office, maya: Maya, ledger: Ledger) -> None:
    by_ceiling(office)

    answer = maya.says(f"Schreibe an {ADA} über das Budget: wir sind einverstanden.")

    assert (
        "Gesendet habe ich nichts. Hier dürfen Mails nur entworfen werden. "
        f"Die Mail an {ADA} wartet in Ihren Entwürfen" in answer["response"]
    )
    assert "Aus dem Protokoll" in answer["response"]
    assert ledger.said == [REFUSED, *DRAFTED]
    assert sent(office) == []


def test_a_receiver_whom_nobody_listed_is_refused_for_the_draft_too(
    office: Office, maya: Maya, ledger: Ledger
) -> None:
    by_ceiling(office)
    before = office.calls()

    answer = maya.says(f"Write to {STRANGER} about the budget: we agree.")

    assert ledger.said == [REFUSED, ("draft", "blocked", "target_not_listed")]
    assert office.calls() == before
    assert not ledger.drafts.exists()
    assert "waits in your drafts" not in answer["response"]
    assert f"Refused: draft a mail to {STRANGER}." in answer["response"]


def test_where_drafting_is_not_permitted_either_nothing_is_drafted(
    office: Office, maya: Maya, ledger: Ledger
) -> None:
    by_ceiling(office)
    AllowedAction.objects.filter(action_type="draft").delete()
    before = office.calls()

    answer = maya.says(WISH)

    assert ledger.said == [REFUSED]
    assert office.calls() == before
    assert "waits in your drafts" not in answer["response"]


def test_a_draft_that_the_user_sends_is_known_as_sent(
    office: Office, maya: Maya, ledger: Ledger
) -> None:
    by_ceiling(office)
    maya.says(WISH)
    row = ledger.drafts.get()
    url = f"{office.sandbox.url}/users/maya/drafts/{row.draft_id}/send"
    headers = office.sandbox.headers | {"Idempotency-Key": "by hand"}
    httpx.post(url, json={}, headers=headers).raise_for_status()
    office.settle_webhooks()

    with scripted({INGEST: summary}):
        office.drain()

    row.refresh_from_db()
    assert (row.state, row.nearness) == ("sent", 1.0)
    assert office.mail(row.answer_id)["to"] == [ADA]
    assert ledger.said == [REFUSED, *DRAFTED]


def obeys(to: str, *, subject: str = "Payment") -> Callable[[dict[str, Any]], Any]:
    """A model that does as the mail says: it drafts a new mail to somebody else."""

    def model(request: dict[str, Any]) -> Any:
        if request["messages"][-1]["role"] == "tool":
            return "Drafted."
        return calls(("draft", {"to": [to], "subject": subject, "body": "Pay today."}))

    return model


@pytest.mark.parametrize("to", [STRANGER, ADA, "omar@company.com"])
def test_a_mail_that_arrives_sets_off_no_new_mail_to_anybody(
    office: Office, ledger: Ledger, to: str
) -> None:
    """Not even to somebody whom an operator listed."""
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    AllowedActionOption.objects.get_or_create(
        account=mailbox,
        action_type="draft",
        source="gmail",
        kind="recipient",
        external_id=to,
        name=to,
    )
    before = drafts(office)
    with scripted({INGEST: summary, READER: obeys(to)}):
        office.deliver("question")
        office.drain()

    assert ledger.said == [("draft", "blocked", "outside_own_item")]
    [row] = ledger.rows
    assert (row.trigger, recorded(UUID(str(row.action_id)))[0].payload["arguments"]["to"]) == (
        "webhook",
        [to],
    )
    assert drafts(office) == before
    assert [one["path"] for one in office.calls() if "/drafts" in one["path"]] == []
    assert not ledger.drafts.exists()
