from typing import Any

import pytest

from guardrails.contracts import ActionRequest
from guardrails.execute.executor import execute
from guardrails.facts import known_tools
from integrations.ports.tools import ToolMeaning
from tests.guardrails.actions.tools.test_call_mcp_tool import Desk, desk, lists, look, refused
from tests.mcp_server import tool

__all__ = ["desk"]
DATABASE = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)

MEANING = ToolMeaning(
    server="GitHub",
    place=("owner", "repo"),
    receiver=("assignees",),
    anything=("issue_fields",),
    undo="Close it.",
    proof="issue_read",
)
JIRA = ToolMeaning(server="Atlassian", issue=("issue_key", "epic_key"), undo="Undo it.", proof="x")
NOTION = ToolMeaning(server="Notion", place=("parent",), undo="Undo it.", proof="x")


def reached(meaning: ToolMeaning, **arguments: Any) -> list[tuple[str, str]] | None:
    found = known_tools.places(meaning, arguments)
    return None if found is None else [(one.kind, one.value) for one in found]


def test_a_place_is_its_parts_and_of_an_issue_the_project() -> None:
    assert reached(MEANING, owner="octo", repo="plans") == [("project", "octo:plans")]
    assert reached(MEANING, owner="octo") == [("project", "octo:default")]
    assert reached(JIRA, issue_key="PLAN-12", epic_key="OPS-1") == [
        ("project", "PLAN"),
        ("project", "OPS"),
    ]
    assert reached(JIRA) == []
    parent = {"type": "page_id", "page_id": "p-1"}
    assert reached(NOTION, parent=parent) == [("project", "p-1")]


@pytest.mark.parametrize(
    ("meaning", "arguments"),
    [
        (MEANING, {"owner": "octo:plans", "repo": "x"}),
        (MEANING, {"owner": "octo/plans", "repo": "x"}),
        (MEANING, {"owner": ["octo"], "repo": "x"}),
        (MEANING, {"owner": "", "repo": "x"}),
        (MEANING, {"owner": "octo\u200b", "repo": "x"}),
        (JIRA, {"issue_key": "PLAN"}),
        (JIRA, {"issue_key": 12}),
        (NOTION, {"parent": {"page_id": "a", "database_id": "b"}}),
        (NOTION, {"parent": {"page_id": ["a"]}}),
        (NOTION, {"parent": {}}),
    ],
)
def test_what_names_no_one_place_names_none(
    meaning: ToolMeaning, arguments: dict[str, Any]
) -> None:
    assert known_tools.places(meaning, arguments) is None


@pytest.mark.parametrize(
    ("arguments", "is_so"),
    [
        ({"title": "x"}, True),
        ({"assignees": []}, True),
        ({"assignees": ["tom@office.test"]}, True),
        ({"assignees": "tom@office.test"}, True),
        ({"assignees": ["tom"]}, False),
        ({"assignees": ["tom@office.test", {"login": "tom"}]}, False),
        ({"issue_fields": [{"id": 1}]}, False),
        ({"issue_fields": None}, True),
        ({"issue_fields": 0}, False),
    ],
)
def test_a_login_and_what_may_do_anything_are_not_as_described(
    arguments: dict[str, Any], is_so: bool
) -> None:
    assert known_tools.is_as_described(MEANING, arguments) is is_so


def test_what_cannot_be_taken_back_is_never_as_described() -> None:
    final = ToolMeaning(server="GitHub", place=("owner",), undo="", proof="x")
    assert not known_tools.is_as_described(final, {"owner": "octo"})


def know(desk: Desk, name: str, *arguments: str) -> None:
    """The server has a tool of this name, and an operator says that it is the known one."""
    schema = {"type": "object", "properties": {one: {} for one in arguments}}
    desk.tracker.tools = [tool(name, schema)]
    look(desk.server)
    desk.mark(name, enabled=True, effect="known")
    lists(desk, "tool", f"tracker:{name}")


def post(desk: Desk, channel: Any = "C1", **more: Any) -> ActionRequest:
    given = {"channel_id": channel, "text": "Hello", **more}
    return desk.request(arguments={"tool": "tracker:slack_post_message", "arguments": given})


@DATABASE
def test_a_known_tool_is_called_in_listed_places_without_a_question(desk: Desk) -> None:
    know(desk, "slack_post_message", "channel_id", "text")
    refused(desk, "target_not_listed", post(desk))
    lists(desk, "project", "C1")

    result = execute(post(desk))

    assert (result.status, len(desk.tracker.calls)) == ("succeeded", 1)
    refused_elsewhere = execute(post(desk, "C2"))
    assert (refused_elsewhere.reason, len(desk.tracker.calls)) == ("target_not_listed", 1)
    assert execute(post(desk, ["C1"])).status == "refused"
    assert len(desk.tracker.calls) == 1


@DATABASE
def test_a_tool_that_is_not_exactly_the_known_one_asks_as_before(desk: Desk) -> None:
    know(desk, "slack_post_message", "channel_id", "text", "unfurl_links")
    lists(desk, "project", "C1")

    result = execute(post(desk))

    assert (result.status, desk.tracker.calls) == ("pending", [])


@DATABASE
def test_a_known_tool_asks_where_it_names_somebody_by_a_login(desk: Desk) -> None:
    know(desk, "update_issue_assignees", "owner", "repo", "issue_number", "assignees")
    lists(desk, "project", "octo:plans")
    given = {"owner": "octo", "repo": "plans", "issue_number": 1, "assignees": ["tom"]}
    arguments = {"tool": "tracker:update_issue_assignees", "arguments": given}

    result = execute(desk.request(arguments=arguments))

    assert (result.status, desk.tracker.calls) == ("pending", [])
