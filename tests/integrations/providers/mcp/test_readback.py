"""A call whose answer was lost is settled by what its server shows: a real one, in a process that
dies in the middle of the call."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db.models import F
from django.utils import timezone
from pytest_django.fixtures import Settings

from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from guardrails.contracts import ActionRequest, ActionResult
from guardrails.execute.executor import execute
from guardrails.models import AllowedAction, AllowedActionOption
from integrations.exceptions import Rejected
from integrations.models import Account, McpCall, McpServer, McpTool, Organisation
from integrations.ports.evidence import NotPerformed
from integrations.providers.mcp import readback
from integrations.providers.mcp.catalogue import keep, offered_by
from tests.guardrails.office import CHAT, phases, recover
from tests.guardrails.values import AGENT_TEXT
from tests.mcp_process import McpProcess, Moment, running_process, schema
from tests.mcp_server import Tracker, running_tracker, said, tool

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ROOF = {"title": "Mend the roof", "body": "It leaks."}


@dataclass(kw_only=True)
class Desk:
    account: Account

    def request(self) -> ActionRequest:
        arguments = {"owner": "octo", "repo": "plans", **ROOF}
        return ActionRequest(
            action_id=uuid7(),
            account=self.account.ref(),
            action_type="call_mcp_tool",
            arguments={"tool": "octo:create_issue", "arguments": arguments},
            origin=CHAT,
        )


def seated(url: str) -> Desk:
    """One user whose agent may create issues in one project of the server there."""
    organisation = Organisation.objects.create(slug=f"org-{uuid4().hex[:8]}", name="Company")
    account = Account.objects.create(
        organisation=organisation, external_user_id="maya", source="mcp"
    )
    server = McpServer.objects.create(organisation=organisation, slug="octo", name="Octo", url=url)
    keep(server, offered_by(server, now=timezone.now()), now=timezone.now())
    server.tools.filter(name="create_issue").update(enabled=True, effect=McpTool.Effect.KNOWN)
    server.tools.filter(name="list_issues").update(enabled=True, effect=McpTool.Effect.READING)
    AllowedAction.objects.create(
        account=account,
        action_type="call_mcp_tool",
        approval_mode="auto",
        conditions=[AGENT_TEXT],
    )
    for kind, id in (("tool", "octo:create_issue"), ("project", "octo:plans")):
        AllowedActionOption.objects.create(
            account=account,
            action_type="call_mcp_tool",
            source="mcp",
            kind=kind,
            external_id=id,
            name=id,
        )
    return Desk(account=account)


@pytest.fixture
def server(settings: Settings, tmp_path: Path) -> Iterator[McpProcess]:
    settings.OUTGOING_TO_PRIVATE, settings.DATA_SERVICES = True, {}
    settings.MCP_RETRIES = 0
    with running_process(tmp_path) as running:
        yield running


def cut(server: McpProcess, desk: Desk, moment: Moment) -> tuple[ActionRequest, ActionResult]:
    server.die(moment)
    request = desk.request()
    result = execute(request)
    server.start()
    return request, result


def ten_minutes_pass() -> None:
    McpCall.objects.update(begun_at=F("begun_at") - readback.LATE)


def test_what_was_done_before_the_answer_was_lost_is_found(server: McpProcess) -> None:
    """The same issue was there before: it is not taken for the new one."""
    server.keep({"number": 1, **ROOF})
    desk = seated(server.url)
    request, result = cut(server, desk, "after the effect")
    assert result.status == "unknown"

    recover(request)

    assert phases(result) == [
        ("attempt", "pending", "allowed"),
        ("outcome", "succeeded", "performed"),
    ]
    assert recorded(request.action_id)[-1].payload["result"]["text"] == "list_issues shows it: 2."
    assert [one["number"] for one in server.issues] == [1, 2]


def test_what_was_not_done_is_said_to_have_failed_once_nothing_can_come_late(
    server: McpProcess,
) -> None:
    """And is never sent again."""
    server.keep({"number": 1, **ROOF})
    desk = seated(server.url)
    request, result = cut(server, desk, "before the effect")
    recover(request)
    assert [phase for phase, *_ in phases(result)] == ["attempt", "control"]

    ten_minutes_pass()
    recover(request, later=readback.LATE + timedelta(minutes=1))

    assert phases(result)[-1] == ("outcome", "failed", "provider_unavailable")
    proof = recorded(request.action_id)[-1].payload["proved_by"]
    assert proof == "list_issues shows what it showed before the call."
    assert execute(request).status == "failed"
    assert [one["number"] for one in server.issues] == [1]


@pytest.fixture
def tracker(settings: Settings) -> Iterator[Tracker]:
    settings.OUTGOING_TO_PRIVATE, settings.DATA_SERVICES = True, {}
    settings.MCP_RETRIES = 0
    with running_tracker() as running:
        running.tools = [
            tool("create_issue", schema("owner", "repo", "title", "body")),
            tool("list_issues", schema("owner", "repo", "direction", "orderBy", "perPage")),
        ]
        yield running


def lost(tracker: Tracker, before: Any, after: Any) -> Desk:
    """A call that the server breaks off, and what it lists before and after that."""
    lists = [before, after]
    tracker.answer = lambda *_: said(json.dumps(lists[0] if len(lists) == 1 else lists.pop(0)))
    tracker.refusals = {"create_issue": [502]}
    return seated(tracker.url)


def issues(*numbers: int, **fields: Any) -> dict[str, Any]:
    return {"issues": [{"number": number, **ROOF, **fields} for number in numbers]}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(issues(1), issues(2, title="Another"), id="another is new"),
        pytest.param(issues(1), issues(), id="what was there is gone"),
        pytest.param(issues(), "We have created it.", id="words"),
        pytest.param(issues(), {"issues": {"2": ROOF}}, id="no list"),
        pytest.param(issues(), {"issues": [ROOF]}, id="no id"),
        pytest.param(issues(), issues(2, 2), id="one id twice"),
        pytest.param("We list nothing.", issues(2), id="nothing to compare with"),
    ],
)
def test_a_read_that_proves_nothing_is_left_to_a_person(
    tracker: Tracker, before: Any, after: Any
) -> None:
    request = lost(tracker, before, after).request()
    assert execute(request).status == "unknown"

    ten_minutes_pass()
    recover(request, later=readback.LATE + timedelta(minutes=1))

    assert {row.phase for row in recorded(request.action_id)} <= {"attempt", "control"}
    assert [name for name, _ in tracker.calls] == ["list_issues"] * len(tracker.calls)


def test_two_calls_of_the_same_at_once_are_left_to_a_person(tracker: Tracker) -> None:
    """What is there may be the other one's."""
    desk = lost(tracker, issues(), issues())
    request, other = desk.request(), desk.request()
    tracker.refusals = {"create_issue": [502, 502]}
    assert [execute(one).status for one in (request, other)] == ["unknown", "unknown"]
    tracker.answer = lambda *_: said(json.dumps(issues(2)))

    recover(request)

    assert {row.phase for row in recorded(request.action_id)} <= {"attempt", "control"}


@pytest.mark.parametrize(
    "without", [{"enabled": False}, {"effect": McpTool.Effect.UNDOABLE}], ids=["off", "acting"]
)
def test_only_a_tool_that_an_operator_says_reads_is_asked(
    tracker: Tracker, without: dict[str, Any]
) -> None:
    desk = seated(tracker.url)
    McpTool.objects.filter(name="list_issues").update(**without)
    tracker.refusals = {"create_issue": [502]}
    request = desk.request()

    assert execute(request).status == "unknown"
    recover(request)

    assert tracker.calls == []
    assert recorded(request.action_id)[-1].status == "pending"


def test_what_was_never_sent_is_known_and_called_off(tracker: Tracker) -> None:
    """A process that died before it sent anything, and one that goes on after all."""
    desk = seated(tracker.url)
    account = desk.account.ref()

    found = readback.evidence(account, "remit-1")

    assert found == NotPerformed(proof=readback.NOTHING_SENT)
    tool = McpTool.objects.get(server__organisation_id=account.organisation_id, name="create_issue")
    with pytest.raises(Rejected):
        readback.begin(account, tool, ROOF, key="remit-1")
