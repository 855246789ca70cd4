"""What would happen: tried without doing it, and replayed from the ledger."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from audit.contracts import Filters
from audit.models import LedgerPolicy
from audit.selectors import actions
from guardrails import selectors, simulation
from guardrails.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption, Approval
from tests.guardrails.office import Office
from tests.guardrails.values import ADA

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


def rows_of(office: Office) -> int:
    return len(actions(filters=Filters(tenant_id=office.organisation.id), limit=500).rows)


def draft(office: Office, row: AllowedAction | AllowedActionOption) -> simulation.Replay:
    account = office.ref(office.mailbox)
    policy = simulation.drafted(selectors.policy_snapshot(account), row)
    return simulation.replay(account, policy)


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
    assert simulated.description == "Archive “Lunch on Friday?”"


def test_a_draft_is_replayed_over_the_decisions_of_the_past(office: Office) -> None:
    rule = office.permit("archive")
    for number in range(3):
        sender = "ada@client.com" if number else "boss@company.com"
        execute(office.request("archive", {"email_id": office.receive(**{"from": sender})}))
    calls = len(office.calls())
    rule.conditions = [{"kind": "sender", "domains": ["company.com"]}]

    found = draft(office, rule)

    assert (found.looked_at, found.unclear) == (3, 0)
    assert [len(found.newly(verdict)) for verdict in ("allow", "ask", "refuse")] == [0, 0, 2]
    one = found.differences[0]
    assert (one.before, one.after) == ("allow", "refuse")
    assert one.description == "Archive “Lunch on Friday?”"
    assert len(office.calls()) == calls
    assert AllowedAction.objects.get().conditions == []


def test_a_wider_draft_newly_allows(office: Office) -> None:
    rule = office.permit("archive", "ask")
    execute(office.request("archive", {"email_id": office.receive()}))
    rule.approval_mode = "auto"
    assert len(draft(office, rule).newly("allow")) == 1


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
    assert one.description == "Label a mail: “Lunch on Friday?”"


def test_what_depends_on_facts_nobody_read_is_unclear(office: Office) -> None:
    rule = office.permit("archive", "never")
    execute(office.request("archive", {"email_id": office.receive()}))
    rule.approval_mode = "auto"
    found = draft(office, rule)
    assert (found.differences, found.unclear) == ((), 1)


def test_only_the_last_decisions_of_this_account_are_looked_at(office: Office) -> None:
    rule = office.permit("archive")
    for _ in range(3):
        execute(office.request("archive", {"email_id": office.receive()}))
    account = office.ref(office.mailbox)
    policy = simulation.drafted(selectors.policy_snapshot(account), rule)
    assert simulation.replay(account, policy, last=2).looked_at == 2
    other = office.ref(office.tracker)
    assert simulation.replay(other, policy).looked_at == 0
