"""Patterns and skills over the API, for callers that may and callers that may not."""

from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone

from audit.contracts import Filters
from audit.ledger.selectors import actions
from guardrails.learn import patterns, skills
from guardrails.models import LearnedPattern, PatternAction, PatternEvidence, Skill
from guardrails.policies.changes import Author
from integrations.models import Account, Organisation
from tests.guardrails.test_api import Api, error

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
PATTERNS, SKILLS = "/api/v1/patterns", "/api/v1/skills"
SCOPES = ("policy", "learning")
MAYA = {"user_id": "maya"}


@pytest.fixture
def organisation() -> Organisation:
    return Organisation.objects.create(slug="default", name="Default")


@pytest.fixture
def mailbox(organisation: Organisation) -> Account:
    return make_mailbox(organisation, "maya")


def make_mailbox(organisation: Organisation, user: str) -> Account:
    return Account.objects.create(
        organisation=organisation, external_user_id=user, source="gmail", address=f"{user}@a.com"
    )


@pytest.fixture
def api(organisation: Organisation, mailbox: Account) -> Api:
    return Api(organisation, *SCOPES)


def learn(mailbox: Account, number: int = 0, **changes: Any) -> LearnedPattern:
    given = {"name": f"P{number}", "list_id": f"list-{number}", "tried_at": timezone.now()}
    row = LearnedPattern.objects.create(account=mailbox, **given | changes)
    PatternAction.objects.create(
        pattern=row, action_type="classify", arguments={"label_id": "label_1"}
    )
    for side, item in (("supporting", "m1"), ("supporting", "m2"), ("undecided", "m3")):
        PatternEvidence.objects.create(
            pattern=row, item_id=item, side=side, occurred_at=timezone.now()
        )
    return row


def propose(mailbox: Account, content: str) -> Skill:
    found = skills.propose(
        mailbox.ref(),
        name="invoices",
        description="Invoices.",
        content=content,
        reason="You asked.",
        proposed_by="chat",
        author=Author(name="agent:orchestrator", door="agent"),
    )
    return Skill.objects.get(name="invoices", version=found.version, account=mailbox)


def said(organisation: Organisation) -> list[tuple[str, str]]:
    """Who changed policy, newest first."""
    wanted = Filters(tenant_id=organisation.id, action_type="policy.change")
    return [(one.actor_type, one.resource_type) for one in actions(filters=wanted).rows]


def test_patterns_are_listed_page_by_page_with_what_speaks_for_them(
    organisation: Organisation, mailbox: Account, api: Api
) -> None:
    older, newer = learn(mailbox, 1), learn(mailbox, 2)
    learn(make_mailbox(organisation, "omar"), 3)

    first = api.get(PATTERNS, **MAYA, limit=1).json()
    second = api.get(PATTERNS, **MAYA, limit=1, cursor=first["next_cursor"]).json()

    (row,) = first["items"]
    assert (row["id"], second["items"][0]["id"]) == (str(newer.id), str(older.id))
    assert second["next_cursor"] is None
    assert (row["user_id"], row["list_id"], row["state"]) == ("maya", "list-2", "proposed")
    assert row["is_acting"] is False
    assert row["evidence"] == {"supporting": 2, "contradicting": 0, "undecided": 1}
    assert row["actions"] == [
        {"type": "classify", "title": "Label a mail", "params": {"label_id": "label_1"}}
    ]
    assert api.get(PATTERNS, **MAYA, state="approved").json()["items"] == []


def test_a_pattern_acts_once_it_is_approved_as_it_was_read_and_stops_at_a_word(
    organisation: Organisation, mailbox: Account, api: Api
) -> None:
    row = learn(mailbox)
    path, read = f"{PATTERNS}/{row.id}/decide", api.get(PATTERNS, **MAYA).json()["items"][0]
    approve = MAYA | {"decision": "approve", "tried_at": read["tried_at"]}

    approved = api.post(path, approve)
    assert (approved.status_code, approved.json()["is_acting"]) == (200, True)
    assert approved.json()["approved_by"].startswith("token:")
    stop = MAYA | {"decision": "suspend"}
    stopped, again = api.post(path, stop), api.post(path, stop)
    assert (stopped.json()["state"], again.json()) == ("suspended", stopped.json())
    assert stopped.json()["is_acting"] is False
    assert said(organisation) == [("user", "learnedpattern")] * 2


def test_a_proposal_is_declined_once_and_what_acts_is_not(
    organisation: Organisation, mailbox: Account, api: Api
) -> None:
    row, acting = learn(mailbox), learn(mailbox, 1)
    patterns.approve(pattern_id=acting.id, by="ada", now=timezone.now())
    word = MAYA | {"decision": "decline"}

    declined = [api.post(f"{PATTERNS}/{row.id}/decide", word).json() for _ in range(2)]

    assert declined[0] == declined[1]
    assert (declined[0]["state"], declined[0]["is_acting"]) == ("suspended", False)
    assert declined[0]["suspended_why"].endswith(" declined it.")
    assert error(api.post(f"{PATTERNS}/{acting.id}/decide", word)) == (409, "conflict")
    assert said(organisation) == [("user", "learnedpattern")]


def test_what_was_learned_is_approved_with_enough_evidence_alone(
    organisation: Organisation, mailbox: Account, api: Api
) -> None:
    row = learn(mailbox, proposed_by="chat")
    path, [read] = f"{PATTERNS}/{row.id}/decide", api.get(PATTERNS, **MAYA).json()["items"]
    approve = MAYA | {"decision": "approve", "tried_at": read["tried_at"]}

    refused = api.post(path, approve)

    assert error(refused) == (409, "conflict")
    assert refused.json()["detail"] == (
        "A learned pattern needs 3 like mails that a person treated so: here it is 0."
    )
    assert LearnedPattern.objects.get().state == "proposed"
    assert said(organisation) == []

    row.evidence.update(side="supporting", by_person=True, occasion=F("item_id"))
    assert api.post(path, approve).json()["is_acting"] is True


@pytest.mark.parametrize("seen", [None, "2026-01-05T09:00:00Z"])
def test_a_pattern_that_is_not_as_it_was_read_does_not_act(
    organisation: Organisation, mailbox: Account, api: Api, seen: str | None
) -> None:
    row = learn(mailbox)
    untried = learn(mailbox, 1, tried_at=None)
    word = MAYA | {"decision": "approve"} | ({"tried_at": seen} if seen else {})

    for one in (row, untried):
        assert error(api.post(f"{PATTERNS}/{one.id}/decide", word)) == (409, "conflict")
    waits = api.post(f"{PATTERNS}/{row.id}/decide", MAYA | {"decision": "suspend"})
    assert error(waits) == (409, "conflict")
    assert set(LearnedPattern.objects.values_list("state", flat=True)) == {"proposed"}
    assert said(organisation) == []


def test_a_proposed_version_is_published_or_rejected_once(
    organisation: Organisation, mailbox: Account, api: Api
) -> None:
    first, second = propose(mailbox, "Pay early."), propose(mailbox, "Pay late.")
    path = f"{SKILLS}/{first.id}/decide"

    done = api.post(path, MAYA | {"decision": "approve"})
    again = api.post(path, MAYA | {"decision": "approve"})
    other = api.post(path, MAYA | {"decision": "reject"})
    api.post(f"{SKILLS}/{second.id}/decide", MAYA | {"decision": "reject"})

    assert (done.json()["state"], again.json()) == ("published", done.json())
    assert error(other) == (409, "conflict")
    rows = api.get(SKILLS, **MAYA).json()["items"]
    assert [(row["version"], row["content"], row["state"]) for row in rows] == [
        (2, "Pay late.", "rejected"),
        (1, "Pay early.", "published"),
    ]
    assert [kind for actor, kind in said(organisation) if actor == "user"] == ["skill"] * 2


def test_who_may_read_may_not_decide_and_others_meet_nothing(
    organisation: Organisation, mailbox: Account
) -> None:
    pattern, skill = learn(mailbox), propose(mailbox, "Pay early.")
    make_mailbox(organisation, "omar")
    read = Api(organisation, "policy", "chat", "approvals")
    omars = Api(organisation, *SCOPES, users=("omar",))
    stop, reject = {"decision": "suspend"}, {"decision": "reject"}

    for path, word in (
        (f"{PATTERNS}/{pattern.id}/decide", stop),
        (f"{SKILLS}/{skill.id}/decide", reject),
    ):
        assert error(read.post(path, MAYA | word)) == (403, "permission_denied")
        assert omars.post(path, MAYA | word).status_code == 404
        assert omars.post(path, {"user_id": "omar"} | word).status_code == 404
    assert omars.get(PATTERNS, user_id="omar").json()["items"] == []
    assert omars.get(SKILLS, user_id="omar").json()["items"] == []
    assert error(Api(organisation, *SCOPES).get(PATTERNS, user_id="zoe")) == (404, "unknown_user")
    nowhere = f"{PATTERNS}/{uuid4()}/decide"
    assert error(omars.post(nowhere, {"user_id": "omar"} | stop)) == (404, "unknown_pattern")
    skill.refresh_from_db()
    assert (skill.state, LearnedPattern.objects.get().state) == ("proposed", "proposed")


def test_what_all_share_is_read_by_each_and_decided_by_those_for_all(
    organisation: Organisation, mailbox: Account
) -> None:
    shared = propose(mailbox, "For all.")
    Skill.objects.filter(pk=shared.pk).update(account=None)
    mayas, all_of_them = Api(organisation, *SCOPES, users=("maya",)), Api(organisation, *SCOPES)
    path, word = f"{SKILLS}/{shared.id}/decide", MAYA | {"decision": "approve"}

    assert mayas.get(SKILLS, **MAYA).json()["items"][0]["account_id"] is None
    assert error(mayas.post(path, word)) == (404, "unknown_skill")
    assert all_of_them.post(path, word).json()["state"] == "published"
