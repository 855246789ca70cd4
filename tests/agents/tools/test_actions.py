"""The tool of each action: what a model is shown of it, and what its call stands for."""

import json
from typing import Any
from uuid import UUID, uuid4

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from agents.contracts import CallRecord, Person
from agents.tools import actions
from agents.tools.base import parse
from agents.tools.execute_action import ExecuteAction
from guardrails.actions.registry import ACTIONS, BY_NAME
from guardrails.contracts import Capability, PermittedTarget
from integrations.contracts import AccountRef, Source


def account(source: Source, number: int = 1) -> AccountRef:
    return AccountRef(
        id=UUID(int=number),
        organisation_id=UUID(int=0),
        organisation_slug="company",
        external_user_id="maya",
        kind="mail",
        provider="eds",
        source=source,
        address=f"maya{number}@company.com",
        display_name="Maya",
        time_zone="UTC",
        paused=False,
    )


PERSON = Person(
    organisation_id=UUID(int=0),
    external_user_id="maya",
    accounts=(account("gmail", 1), account("outlook", 2)),
)


def permit(
    action_type: str,
    *targets: tuple[str, str, str],
    mode: str = "auto",
    number: int = 1,
    opening: str = "",
) -> Capability:
    return Capability(
        account_id=UUID(int=number),
        action_type=action_type,
        source="gmail",
        description=BY_NAME[action_type].description + opening,
        mode=mode,
        schema={},
        targets=tuple(PermittedTarget(kind=k, id=i, name=n) for k, i, n in targets),
    )


def shown(*permitted: Capability) -> dict[str, Any]:
    tools = actions.list_tools(PERSON, permitted)
    return {name: tool.schema["function"] for name, tool in tools.items()}


def call(name: str, arguments: dict[str, Any]) -> CallRecord:
    return CallRecord(
        id=uuid4(),
        result=None,
        name=name,
        arguments=json.dumps(arguments),
        action_id=uuid4(),
    )


def test_an_argument_that_is_named_after_a_listed_target_takes_the_listed_ones() -> None:
    found = shown(
        permit("classify", ("label", "L1", "Invoices"), ("label", "L2", "Team")),
        permit(
            "create_jira_task",
            ("project", "PROJ", "Portal"),
            ("label", "backend", "backend"),
            ("assignee", "ben@company.com", "Ben"),
        ),
        permit("update_jira_task", ("project", "PROJ", "Portal"), ("status", "Done", "Done")),
    )

    assert found["classify"]["parameters"]["properties"]["label_id"]["enum"] == ["Invoices", "Team"]
    issue = found["create_jira_task"]["parameters"]["properties"]
    assert issue["project_key"]["enum"] == ["PROJ"]
    assert issue["labels"]["items"]["enum"] == ["backend"]
    assert issue["assignee"]["enum"] == ["ben@company.com"]
    assert "enum" not in issue["summary"]
    assert found["update_jira_task"]["parameters"]["properties"]["status"]["enum"] == ["Done"]
    assert found["update_jira_task"]["description"].endswith("Listed: PROJ (Portal).")


def test_a_name_that_says_too_little_gives_way_to_the_id() -> None:
    twins = (("folder", "F1", "Reports"), ("folder", "F2", "reports"), ("folder", "F3", "Plans"))
    odd = (("folder", "F4", ""), ("folder", "F5", "Two\nlines"), ("folder", "F6", "F1"))
    folder = shown(permit("move_email", *twins, *odd))["move_email"]["parameters"]["properties"]

    assert folder["folder_id"]["enum"] == ["F1", "F2", "Plans", "F4", "F5", "F6"]


def test_who_may_receive_is_said_and_is_no_closed_list() -> None:
    listed = permit(
        "send_email", ("recipient", "a@b.com", "Ann"), ("recipient_domain", "c.com", "")
    )
    (mail,) = shown(listed).values()

    assert "enum" not in str(mail["parameters"])
    assert mail["description"].endswith("Listed: a@b.com, @c.com.")


def test_that_others_may_be_let_in_is_said_shortly() -> None:
    opening = " Need not be listed if every receiver is somebody the user has written to."
    (mail,) = shown(permit("send_email", ("recipient", "a@b.com", "Ann"), opening=opening)).values()

    assert mail["description"] == "Send a mail. Listed: a@b.com, others may be let in."


def test_more_targets_than_are_worth_their_tokens_are_not_all_named() -> None:
    labels = [("label", f"L{n}", f"Label {n}") for n in range(70)]
    (tool,) = shown(permit("classify", *labels)).values()

    assert "enum" not in tool["parameters"]["properties"]["label_id"]
    assert tool["description"].endswith("Label 58, Label 59 and 10 more.")


def test_what_is_always_asked_about_says_so_and_needs_no_flag() -> None:
    asks, runs = permit("archive", mode="ask"), permit("mark_read")
    found = shown(asks, runs)

    assert "The user confirms each." in found["archive"]["description"]
    assert "confirm_first" not in found["archive"]["parameters"]["properties"]
    assert "confirms" not in found["mark_read"]["description"]
    assert "confirm_first" in found["mark_read"]["parameters"]["properties"]
    assert "reason" in found["archive"]["parameters"]["properties"], "the card shows it"
    assert "reason" not in found["mark_read"]["parameters"]["properties"]


def test_of_several_accounts_one_can_be_named() -> None:
    one, other = permit("archive", number=1), permit("archive", number=2)
    (tool,) = shown(one, other).values()
    named = tool["parameters"]["properties"]["account_id"]

    assert named["enum"] == [str(UUID(int=1)), str(UUID(int=2))]
    assert f"{UUID(int=2)}: outlook maya2@company.com" in tool["description"]
    assert tool["description"].startswith("Archive a mail. Accounts: ")
    assert "account_id" not in shown(one)["archive"]["parameters"]["properties"]


@pytest.mark.parametrize("name", [action.name for action in ACTIONS])
def test_a_call_stands_for_the_action_of_its_name(name: str) -> None:
    tool = actions.UNDERSTOOD[name]
    Draft202012Validator.check_schema(tool.schema["function"]["parameters"])
    # No action has an argument of the name of one that is about the call.
    assert not actions.ABOUT_CALL & set(BY_NAME[name].arguments.model_fields)
    assert tool.acts
    assert not tool.offered

    given = parse(call(name, {"x": 1, "reason": "so", "confirm_first": True}), tool)

    assert given == ExecuteAction(
        action_type=name, params={"x": 1}, reason="so", confirm_first=True
    )


@pytest.mark.parametrize("name", [action.name for action in ACTIONS])
def test_every_listed_target_has_an_argument_or_is_said(name: str) -> None:
    """A kind that no argument is named after, a project of a comment, is said in words."""
    action = BY_NAME[name]
    (tool,) = shown(permit(name, *((kind, f"{kind}-1", "") for kind in action.takes))).values()

    assert all(f"{kind}-1" in json.dumps(tool) for kind in action.takes)


def line(*permitted: Capability) -> str:
    [tool] = actions.list_tools(PERSON, permitted).values()
    return tool.line


def test_a_line_has_the_arguments_with_the_listed_targets() -> None:
    assert line(permit("archive")) == "archive(email_id)"
    labels = ("label", "L1", "Invoices"), ("label", "L2", 'To "do"'), ("label", "L3", "a|b, c)")
    assert line(permit("classify", *labels)) == (
        'classify(email_id, label_id: Invoices|"To \\"do\\""|"a|b, c)")'
    )
    assert line(permit("create_jira_task", ("project", "PROJ", "Portal"))) == (
        "create_jira_task(project_key: PROJ, summary, type: task|bug|story|epic, description?, "
        "priority?, labels[]?, assignee?, due_date?)"
    )


def test_what_arrived_is_answered_so_the_mail_that_is_answered_must_be_named() -> None:
    permitted = permit("draft"), permit("archive"), permit("create_jira_task")

    tools = actions.list_tools(PERSON, permitted, for_items=True)

    assert tools["draft"].line == "draft(reply_to_id, to[], subject, body, cc[]?)"
    assert tools["archive"].line == "archive(email_id)"
    assert "project_key" in tools["create_jira_task"].parameters["required"]


def test_a_line_says_who_may_receive_and_that_the_user_confirms() -> None:
    people = ("recipient", "a@b.com", "Ann"), ("recipient_domain", "c.com", "")
    opening = " Need not be listed if every receiver is somebody the user has written to."
    form = "draft(to[], subject, body, reply_to_id?, cc[]?)"

    assert line(permit("draft", *people)) == f"{form} for a@b.com, @c.com"
    assert line(permit("draft", *people, opening=opening)) == f"{form} for a@b.com, @c.com, …"
    assert line(permit("draft", *people, mode="ask")) == f"{form}* for a@b.com, @c.com"
    assert "L1" not in line(permit("draft"))


def test_a_line_names_the_accounts_where_there_are_several() -> None:
    one, two = UUID(int=1), UUID(int=2)
    assert line(permit("archive", number=1), permit("archive", number=2)) == (
        f"archive(email_id, account_id?: {one}|{two}). "
        f"Accounts: {one}: gmail maya1@company.com; {two}: outlook maya2@company.com."
    )
