"""For every argument of every action: a value that passes and one that must not, at the real
sandbox. What is refused never reaches the provider."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from audit.ledger.selectors import recorded
from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.contracts import ActionResult
from guardrails.execute.executor import execute
from guardrails.models import Approval
from tests.attacks.desk import furnished
from tests.guardrails.approvals import confirm
from tests.guardrails.arguments import (
    BASE,
    BOB,
    END,
    EVE,
    INVALID,
    LISTED,
    ROWS,
    START,
    TARGETS,
    UNLISTED,
    Row,
)
from tests.guardrails.office import CHAT, Office, phases

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)


@pytest.fixture
def desk(office: Office) -> Office:
    office.control("POST", f"/users/{office.user_id}", furnished(office.mailbox.address))
    return office


def permit(office: Office, name: str) -> None:
    """The action, with all that it may be about."""
    office.permit(name)
    for group in LISTED.get(name, ()):
        for kind, external_id, label in TARGETS[group]:
            if kind in registry.BY_NAME[name].takes:
                office.list_target(name, kind, external_id, label)


def done(office: Office, action: str, arguments: dict[str, Any]) -> ActionResult:
    """What becomes of the action when the user says all but its texts, and confirms whatever is
    asked."""
    said = {name: arguments[name] for name in arguments.keys() - {*registry.BY_NAME[action].texts}}
    words = f"They may edit it: {' '.join(map(str, leaves(said)))}"
    origin = replace(CHAT, user_words=words)
    result = execute(office.request(action, arguments, origin=origin))
    if result.approval_id is None:
        return result
    return confirm(Approval.objects.get(pk=result.approval_id), decided_by="operator:ada")


# Tools of MCP servers are no part of the sandbox: actions/tools/test_call_mcp_tool.py tries them.
@pytest.mark.parametrize("row", [row for row in ROWS if row.action != "call_mcp_tool"], ids=str)
def test_every_argument_is_decided(desk: Office, row: Row) -> None:
    permit(desk, row.action)
    arguments = BASE[row.action]

    refused = execute(desk.request(row.action, arguments | row.given(good=False) | pair(row)))

    assert (refused.status, refused.reason) == ("refused", row.reason), refused.sentence
    assert phases(refused) == [("blocked", "blocked", row.reason)]
    assert desk.calls() == []

    passed = done(desk, row.action, arguments | row.given(good=True) | pair(row))

    assert passed.status == "succeeded", passed.sentence
    assert [call["performed"] for call in desk.calls()] == [True]


# Neither composed nor trimmed nor escaped on the way. (Tools have their own test of it.)
TEXT = "Cafe\u0301 <b>&amp;</b>  “½”"


@pytest.mark.parametrize("action", sorted(BASE.keys() - {"call_mcp_tool"}))
def test_the_provider_gets_what_was_decided_and_nothing_else(desk: Office, action: str) -> None:
    permit(desk, action)
    given = {row.argument: row.good for row in ROWS if row.action == action}
    texts = dict.fromkeys(registry.BY_NAME[action].texts, TEXT)
    arguments = BASE[action] | {name: given[name] for name in given if "[" not in name} | texts

    result = done(desk, action, arguments)

    assert result.status == "succeeded", result.sentence
    decided = recorded(result.action_id)[0].payload["arguments"]
    assert {name: decided[name] for name in texts} == texts
    [call] = desk.calls()
    told = {name: value for name, value in call["body"].items() if name != "mode"}
    named = [part for part in call["path"].split("/") if part in leaves(decided)]
    assert Counter([*leaves(told), *named]) == Counter(leaves(decided))


def leaves(value: Any) -> list[str]:
    """Every single value in it."""
    if isinstance(value, dict):
        return [leaf for one in value.values() for leaf in leaves(one)]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [value] if value not in (None, "") else []


def pair(row: Row) -> dict[str, Any]:
    """An event's start and end are changed together."""
    both = ("update_calendar_event", "answer_invitation")
    if row.action not in both or row.argument not in ("start", "end"):
        return {}
    return {"end": END} if row.argument == "start" else {"start": START}


def arguments_of(action: AnyAction) -> Iterator[str]:
    """Every argument of an action, and `[]` behind those that hold lists."""
    for name, schema in action.arguments.model_json_schema()["properties"].items():
        yield name
        if "array" in (one.get("type") for one in (schema, *schema.get("anyOf", ()))):
            yield f"{name}[]"


def test_no_argument_and_no_item_is_without_its_row() -> None:
    expected = [
        f"{action.name}.{name}" for action in registry.ACTIONS for name in arguments_of(action)
    ]
    assert sorted(map(str, ROWS)) == sorted(expected)


@pytest.mark.parametrize("action", sorted(BASE))
def test_unknown_arguments_are_refused(desk: Office, action: str) -> None:
    permit(desk, action)
    for extra in ({"raw": {"to": [EVE]}}, {"reply_to": [EVE]}, {"sendUpdates": "all"}):
        result = execute(desk.request(action, BASE[action] | extra))
        assert (result.status, result.reason) == ("refused", INVALID)
    assert desk.calls() == []


@pytest.mark.parametrize("action", sorted(LISTED))
def test_without_a_listed_target_nothing_is_done(desk: Office, action: str) -> None:
    desk.permit(action)
    arguments = BASE[action] | ({"attendees": [BOB]} if "event" in action else {})
    if action == "cancel_calendar_event":
        arguments = BASE[action]
    if action == "append_document":
        desk.change("documents", "doc-1", shared_with=[BOB])

    result = execute(desk.request(action, arguments))

    assert (result.status, result.reason) == ("refused", UNLISTED)
    assert desk.calls() == []


def test_a_move_that_can_be_taken_back_says_how(desk: Office) -> None:
    permit(desk, "move_document")

    result = execute(desk.request("move_document", BASE["move_document"]))

    assert result.status == "succeeded"
    row = recorded(result.action_id)[0]
    assert row.payload["undo"] == "Move the document back to /Meetings."


def test_what_was_deleted_is_listed_without_an_answer(desk: Office) -> None:
    permit(desk, "delete_draft")

    result = done(desk, "delete_draft", BASE["delete_draft"])

    assert (result.status, dict(result.result)) == ("succeeded", {"draft_id": "draft-1"})
