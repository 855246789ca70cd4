"""What would happen: tried without doing it, and replayed from the ledger."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from audit.contracts import Filters
from audit.ledger.selectors import actions
from audit.models import LedgerPolicy
from guardrails.contracts import Origin
from guardrails.decide.policy_file import with_file
from guardrails.decide.snapshot import PolicySnapshot, Switch
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, Approval, CeilingLimit
from guardrails.policies import (
    drafts,
    files as policy_files,
    simulation,
    text as policy_text,
)
from integrations.contracts import AccountRef
from tests.guardrails.office import Office
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def rows_of(office: Office) -> int:
    return len(actions(filters=Filters(tenant_id=office.organisation.id), limit=500).rows)


def draft(office: Office, row: AllowedAction | AllowedActionOption) -> simulation.Replay:
    account = office.ref(office.mailbox)
    return replay(account, lambda policy: drafts.with_row(policy, row))


def replay(account: AccountRef, draft: simulation.Draft, **given: Any) -> simulation.Replay:
    return simulation.replay(
        draft, organisation_id=account.organisation_id, account_id=account.id, **given
    )


def arguments(action_type: str, email_id: str) -> dict[str, Any]:
    reply: dict[str, Any] = {"to": [ADA], "reply_to_id": email_id, "subject": "Re", "body": "Yes."}
    found: dict[str, dict[str, Any]] = {
        "archive": {"email_id": email_id},
        "classify": {"email_id": email_id, "label_id": "label_fyi"},
        "draft": reply,
        "send_email": reply,
        "invented": {},
    }
    return found[action_type]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    st.sampled_from(["archive", "classify", "draft", "send_email", "invented"]),
    st.sampled_from(["auto", "ask", "never", None]),
    st.booleans(),
)
def test_simulating_never_acts_never_asks_and_writes_nothing(
    office: Office, action_type: str, mode: str | None, from_mail: bool
) -> None:
    AllowedAction.objects.all().delete()
    AllowedActionOption.objects.all().delete()
    email_id = office.receive()
    office.list_target("classify", "label", "label_fyi", "FYI")
    office.list_target("send_email", "recipient", ADA)
    if mode and action_type != "invented":
        office.permit(action_type, mode)

    found = simulation.simulate(
        simulation.wish(
            office.ref(office.mailbox),
            action_type=action_type,
            arguments=arguments(action_type, email_id),
            email_id=email_id if from_mail else "",
        )
    )

    if mode in (None, "never") or action_type == "invented":
        assert found.decision.verdict == "refuse"
    assert office.calls() == []
    assert rows_of(office) == 0
    assert not Approval.objects.exists()
    assert not LedgerPolicy.objects.filter(tenant_id=office.organisation.id).exists()


def test_it_says_what_execution_would_decide(office: Office) -> None:
    office.permit("archive", "ask")
    wish = office.request("archive", {"email_id": office.receive()})
    simulated = simulation.simulate(wish)
    assert execute(wish).reason == simulated.decision.reason == "needs_approval"
    assert simulated.description == "Archive: “Lunch on Friday?”"


def test_a_draft_is_replayed_over_the_decisions_of_the_past(office: Office) -> None:
    allowed_action = office.permit("archive")
    for number in range(3):
        sender = "ada@client.com" if number else "boss@company.com"
        execute(office.request("archive", {"email_id": office.receive(**{"from": sender})}))
    calls = len(office.calls())
    allowed_action.conditions = [{"kind": "sender", "domains": ["company.com"]}]

    found = draft(office, allowed_action)

    assert (found.looked_at, found.unclear) == (3, 0)
    assert [len(found.newly(verdict)) for verdict in ("allow", "ask", "refuse")] == [0, 0, 2]
    one = found.differences[0]
    assert (one.before, one.after) == ("allow", "refuse")
    assert one.description == "Archive: “Lunch on Friday?”"
    assert len(office.calls()) == calls
    assert AllowedAction.objects.get().conditions == []


def test_a_wider_draft_newly_allows(office: Office) -> None:
    allowed_action = office.permit("archive", "ask")
    execute(office.request("archive", {"email_id": office.receive()}))
    allowed_action.approval_mode = "auto"
    assert len(draft(office, allowed_action).newly("allow")) == 1


def test_a_newly_listed_target_is_replayed_too(office: Office) -> None:
    office.permit("classify")
    office.list_target("classify", "label", "label_todo", "To do")
    wish = {"email_id": office.receive(), "label_id": "label_fyi"}
    execute(office.request("classify", wish))
    row = AllowedActionOption(
        account=office.mailbox,
        action_type="classify",
        source="gmail",
        kind="label",
        external_id="label_fyi",
        name="FYI",
    )
    (one,) = draft(office, row).newly("allow")
    assert one.description == "Label as FYI: “Lunch on Friday?”"


def test_what_depends_on_facts_nobody_read_is_unclear(office: Office) -> None:
    allowed_action = office.permit("archive", "never")
    execute(office.request("archive", {"email_id": office.receive()}))
    allowed_action.approval_mode = "auto"
    found = draft(office, allowed_action)
    assert (found.differences, found.unclear) == ((), 1)


def test_only_the_last_decisions_of_this_account_are_looked_at(office: Office) -> None:
    allowed_action = office.permit("archive")
    for _ in range(3):
        execute(office.request("archive", {"email_id": office.receive()}))
    account = office.ref(office.mailbox)

    def same(policy: PolicySnapshot) -> PolicySnapshot:
        return drafts.with_row(policy, allowed_action)

    assert replay(account, same, last=2).looked_at == 2
    assert replay(office.ref(office.tracker), same).looked_at == 0


def test_a_ceiling_is_tried_on_every_account_of_the_organisation(office: Office) -> None:
    office.permit("archive")
    office.permit("create_jira_task")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    execute(office.request("archive", {"email_id": office.receive()}))
    wish = {"project_key": "PROJ", "summary": "Setup", "type": "task", "description": ""}
    words = Origin(trigger="chat", user_words="PROJ")
    execute(office.request("create_jira_task", wish, origin=words))
    limit = CeilingLimit(organisation=office.organisation, at_most="never")

    def tried(organisation_id: UUID) -> simulation.Replay:
        return simulation.replay(
            lambda policy: drafts.with_row(policy, limit), organisation_id=organisation_id
        )

    found = tried(office.organisation.id)
    assert (found.looked_at, len(found.newly("refuse"))) == (2, 2)
    assert tried(uuid4()).looked_at == 0
    assert not CeilingLimit.objects.filter(organisation=office.organisation).exists()


def test_a_switch_is_tried(office: Office) -> None:
    office.permit("archive")
    execute(office.request("archive", {"email_id": office.receive()}))
    account = office.ref(office.mailbox)

    def stopped(action_type: str) -> int:
        switch = Switch(id="", action_type=action_type)
        found = replay(account, lambda policy: drafts.with_switch(policy, switch))
        return len(found.newly("refuse"))

    assert (stopped("archive"), stopped("send_email")) == (1, 0)


def test_the_last_mails_are_replayed_whatever_else_was_done(office: Office) -> None:
    allowed_action = office.permit("archive")
    for _ in range(3):
        mail = office.receive()
        for _ in range(2):
            origin = Origin(trigger="webhook", item_source_id=mail)
            execute(office.request("archive", {"email_id": mail}, origin=origin))
    for _ in range(4):
        execute(office.request("archive", {"email_id": office.receive()}))
    allowed_action.approval_mode = "never"

    def tried(last: int) -> simulation.Replay:
        return replay(
            office.ref(office.mailbox),
            lambda policy: drafts.with_row(policy, allowed_action),
            last=last,
            of="mails",
        )

    assert (tried(2).mails, tried(2).looked_at) == (2, 4)
    assert (tried(100).mails, len(tried(100).newly("refuse"))) == (3, 6)


def test_a_whole_file_is_tried(office: Office) -> None:
    office.permit("classify")
    office.permit("archive")
    office.list_target("classify", "label", "label_fyi", "FYI")
    execute(office.request("archive", {"email_id": office.receive()}))
    wish = {"email_id": office.receive(), "label_id": "label_fyi"}
    execute(office.request("classify", wish))
    account = office.ref(office.mailbox)

    def tried(text: str) -> tuple[int, int, int]:
        whole = policy_files.whole(office.mailbox, policy_text.read(text))
        found = replay(account, lambda policy: with_file(policy, whole, account.source))
        return len(found.newly("allow")), len(found.newly("ask")), len(found.newly("refuse"))

    assert tried("version: 1") == (0, 0, 0)
    assert tried("version: 1\ntargets: []") == (0, 0, 1)
    assert tried("version: 1\nallowed_actions: [{action: archive, mode: ask}]") == (0, 1, 1)
