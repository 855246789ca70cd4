"""What an agent can find out about the office with its tools, through the API (FINDINGS A1 to A4,
A9), with a scripted model."""

import json
import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Turn
from audit.ledger.selectors import actions_of_run
from guardrails.models import AllowedAction, AllowedActionOption, Approval
from integrations.models import ServiceToken
from knowledge.models import Item
from tests.model_server import CONTENT, REVIEWER, Message, Script, ScriptedModel, calls
from tests.office import Office
from tests.stories.steps import scripted

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
ORCHESTRATOR = "You are Remit's orchestrator."
STOCKHOLM = ZoneInfo("Europe/Stockholm")
Chat = Callable[..., tuple[dict[str, Any], ScriptedModel]]


@pytest.fixture
def chat(office: Office) -> Chat:
    token = ServiceToken.issue(
        organisation=office.organisation, name="web", scopes=["chat", "approvals"]
    )[1]

    def ask(
        *steps: Message, user: str = "maya", also: Script | None = None, last: str = "Done."
    ) -> tuple[dict[str, Any], ScriptedModel]:
        with scripted({ORCHESTRATOR: [*steps, last], **(also or {})}) as model:
            answer = httpx.post(
                f"{office.origin}/api/v1/chat",
                json={"user_id": user, "message": "Look into it."},
                headers={"Authorization": f"Bearer {token}"},
                timeout=60,
            )
        assert answer.status_code == 200, answer.text
        return answer.json(), model

    return ask


def results(model: ScriptedModel) -> list[dict[str, Any]]:
    messages = model.chats(ORCHESTRATOR)[-1]["messages"]
    return [json.loads(one["content"]) for one in messages if one["role"] == "tool"]


def refused(answer: dict[str, Any]) -> list[str]:
    """The action types that the ledger says were refused."""
    turn = Turn.objects.get(id=answer["turn_id"])
    rows = actions_of_run(tenant_id=turn.organisation_id, run_id=str(turn.id))
    return [row.action_type for row in rows if row.status == "blocked"]


def items(office: Office, **fields: Any) -> QuerySet[Item]:
    """Maya's in this office: other tests have users of that name, and items with these ids."""
    own = {"account__organisation": office.organisation, "account__external_user_id": "maya"}
    return Item.objects.filter(**own, **fields)


def approvals(office: Office) -> QuerySet[Approval]:
    return Approval.objects.filter(organisation=office.organisation)


def test_an_issue_is_opened_by_its_key_with_its_facts_and_comments(
    office: Office, chat: Chat
) -> None:
    office.sync("jira")
    _, model = chat(
        calls(
            ("open_item", {"item_id": "PROJ-99"}),
            ("open_item", {"item_id": str(items(office).get(metadata__key="PROJ-99").id)}),
            ("open_item", {"item_id": "PROJ-4000"}),
            ("open_item", {"item_id": "PROJ-99", "part": 2}),
        )
    )

    by_key, by_id, unknown, beyond = results(model)
    assert by_key == by_id
    issue = by_key["data"]
    assert (issue["n"], issue["type"], issue["key"]) == (1, "issue", "PROJ-99")
    assert issue["issue_type"] == "task"
    assert (issue["status"], issue["priority"]) == ("In Progress", "medium")
    assert issue["assignee"] == "priya@company.com"
    assert issue["comments"] == 1
    assert "Priya has sketches." in issue["text"]
    assert "I would say what to do next, not what is missing." in issue["text"]
    assert by_key["untrusted"] is True
    assert unknown["error"]["code"] == beyond["error"]["code"] == "NOT_FOUND"


def test_lists_and_counts_are_of_all_that_fits(office: Office, chat: Chat) -> None:
    office.sync("jira", "gmail")
    issues = items(office, source="jira")
    in_progress = issues.filter(metadata__status="In Progress")
    _, model = chat(
        calls(
            ("list_items", {"types": "issue", "status": "in progress", "limit": 50}),
            ("list_items", {"types": ["issue"], "count_by": "status"}),
            ("list_items", {"types": ["issue"], "assignee": "me", "open_only": True}),
        )
    )

    listed, counted, mine = (one["data"] for one in results(model))
    assert listed["total"] == in_progress.count() > 0
    assert {item["id"] for item in listed["items"]} == {str(one.id) for one in in_progress}
    assert counted["total"] == issues.count()
    assert {one["value"]: one["count"] for one in counted["groups"]}["In Progress"] == (
        in_progress.count()
    )
    assert {item["assignee"] for item in mine["items"]} == {"maya@company.com"}
    assert not {item["status"] for item in mine["items"]} & {"Done"}


def test_the_calendar_tells_ends_attendees_collisions_and_free_time_in_the_users_zone(
    office: Office, chat: Chat
) -> None:
    office.sync("calendar")
    start = timezone.now().astimezone(STOCKHOLM)
    _, model = chat(
        calls(
            (
                "read_calendar",
                {
                    "since": start.date().isoformat(),
                    "until": (start.date() + timedelta(days=14)).isoformat(),
                    "free_minutes": 60,
                    "people": ["hannah@company.com"],
                },
            ),
            ("read_calendar", {"since": "2026-03-02", "until": "2026-03-01"}),
            ("read_calendar", {"since": "2020-01-01", "people": ["hannah@company.com"]}),
        )
    )

    fortnight, backwards, named = results(model)
    # Who is named is asked about; what there is none of is not said.
    assert named["data"]["free_minutes"] == 30
    assert named["data"]["free"]
    assert "Of other people only" in named["data"]["note"]
    assert "overlaps" not in named["data"]
    events = fortnight["data"]["events"]
    times = [(one["begins"], one["ends"]) for one in events]
    assert times
    for moment in (moment for pair in times for moment in pair):
        assert moment.split()[1].endswith(("+01:00", "+02:00"))
    assert any("(hannah@company.com)" in str(one.get("attendees")) for one in events)
    free = fortnight["data"]["free"]
    assert free
    busy = [
        tuple(datetime.fromisoformat(one[name].split()[1]) for name in ("begins", "ends"))
        for one in events
        if not one.get("takes_no_time")
    ]
    for slot in free:
        begins, ends = (
            datetime.fromisoformat(slot[name].split()[1]) for name in ("begins", "ends")
        )
        assert all(b <= begins or a >= ends for a, b in busy)
    assert backwards["error"]["code"] == "INVALID_INPUT"


def test_the_agent_knows_whom_it_works_for_and_what_time_it_is(office: Office, chat: Chat) -> None:
    before = timezone.now().astimezone(STOCKHOLM)
    _, model = chat(calls(("retrieve_context", {"query": ""})), calls(("list_items", {})))

    first, *others = model.chats(ORCHESTRATOR)
    system = first["messages"][0]["content"]
    about = next(line for line in system.splitlines() if line.startswith("[user] "))
    assert json.JSONDecoder().raw_decode(about.removeprefix("[user] "))[0] == {
        "name": "Maya Lindqvist",
        "addresses": ["maya@company.com"],
        "time_zone": "Europe/Stockholm",
    }
    state = first["messages"][-1]["content"]
    said = next(line for line in state.splitlines() if line.startswith("[now] "))
    _, weekday, moment, zone = said.split()
    assert (weekday, zone) == (f"{before:%A}", "(Europe/Stockholm)")
    assert datetime.fromisoformat(moment).utcoffset() == before.utcoffset()
    assert (
        timedelta()
        <= datetime.fromisoformat(moment) - before.replace(second=0, microsecond=0)
        <= timedelta(minutes=2)
    )
    # What comes first stays the same, byte by byte, so that an endpoint can keep it.
    assert {json.dumps([one["messages"][0], one["tools"]]) for one in others} == {
        json.dumps([first["messages"][0], first["tools"]])
    }


def test_a_specialist_has_a_long_item_read_for_its_tasks_and_copies_no_text(
    office: Office, chat: Chat
) -> None:
    office.sync("gdrive")
    item = items(office, source="gdrive").order_by("id")[0]
    Item.objects.filter(id=item.id).update(text="1. Paint the hall.\n" + "x" * 20_000)
    task = {"summary": "Paint the hall", "type": "task", "description": "", "labels": []}
    due = [task | {"summary": f"Due {day}", "due_date": day} for day in ("2026-03-02", "Friday")]
    _, model = chat(
        calls(("delegate_to_specialist", {"specialist": "task", "task": "List the tasks."})),
        also={
            "You are Remit's task specialist.": [
                calls(
                    ("extract_tasks", {"item_id": item.source_id}),
                    ("extract_tasks", {"item_id": "nothing"}),
                    ("extract_tasks", {"source_text": "1. Paint the hall."}),
                ),
                "One task [1].",
            ],
            "You extract tasks.": [{"tasks": [task, *due, {"summary": ""}, "x"]}],
        },
    )

    done, *_ = model.chats("You are Remit's task specialist.")[1:]
    read, unknown, copied = (
        json.loads(one["content"]) for one in done["messages"] if one["role"] == "tool"
    )
    assert read["data"] == {
        "n": 1,
        "id": str(item.id),
        "title": item.title,
        "tasks": [task, due[0], task | {"summary": "Due Friday"}],
        "whole": False,
    }
    assert read["untrusted"] is True
    assert (unknown["error"]["code"], copied["error"]["code"]) == ("NOT_FOUND", "INVALID_INPUT")
    (asked,) = model.chats("You extract tasks.")
    about, _, text = asked["messages"][-1]["content"].partition("\n\n<untrusted")
    assert about.startswith("[user] {")
    assert "\n[now] " in about
    assert text.count("x" * 19_000) == 1
    assert len(text) < 20_200
    [result] = results(model)
    assert result["data"]["result"] == "One task [1]."


def act(action_type: str, params: object) -> tuple[str, dict[str, Any]]:
    return "execute_action", {"action_type": action_type, "params": params}


def test_what_is_permitted_is_a_tool_of_its_own_and_the_rest_is_asked_for_by_name(
    office: Office, chat: Chat
) -> None:
    office.sync("gmail")
    mail = items(office, source="gmail").earliest("source_id")
    labels = AllowedActionOption.objects.filter(
        account_id=office.account("maya", "gmail").id, action_type="classify"
    )
    AllowedAction.objects.filter(
        account__organisation=office.organisation, action_type="send_email"
    ).update(enabled=False)
    letter = {"to": ["ben@company.com"], "subject": "Hi", "body": "Hello"}
    bill = {"email_id": str(mail.id), "label_id": "Invoices"}
    answer, model = chat(
        calls(
            ("use_tool", {"name": "classify", "arguments": bill | {"reason": "A bill."}}),
            ("send_email", letter),
            act("send_email", letter),
            ("send_mail", letter),
        )
    )

    offered = {one["function"]["name"]: one for one in model.chats(ORCHESTRATOR)[0]["tools"]}
    lines = offered["use_tool"]["function"]["description"].splitlines()
    [label] = [line for line in lines if line.startswith("classify(email_id, label_id: ")]
    named = label.removeprefix("classify(email_id, label_id: ").removesuffix(")").split("|")
    assert set(named) == {one.name for one in labels}
    assert "send_email" not in json.dumps([*offered.values()]), "its name costs no tokens"
    labelled, *refusals, misnamed = results(model)
    assert "send_email" in misnamed["error"]["message"]
    assert labelled["success"], labelled
    assert labelled["data"]["status"] == "executed", labelled
    [written] = office.calls()
    assert mail.source_id in written["path"]
    assert labels.get(name="Invoices").external_id in str(written["body"])
    assert [one["error"]["code"] for one in refusals] == ["PERMISSION_DENIED"] * 2
    for one in refusals:
        assert one["error"]["message"] == "No operator permits this action for this account."
        assert one["error"]["suggested_action"].endswith(
            "The action would have to be allowed or switched on. The button “Ask for this” beside "
            "the refusal asks an operator to permit it. Only the user can press it."
        )
    assert refused(answer) == ["send_email"] * 2 + ["tool:send_mail"]
    assert [call["path"].rpartition("/")[2] for call in office.calls()] == ["labels"]


def test_a_mistake_of_form_is_explained_and_is_no_refusal(office: Office, chat: Chat) -> None:
    task = {"project_key": "PROJ", "summary": "Write", "type": "task"}
    answer, model = chat(
        calls(
            act("create_jira_task", task | {"type": "Task"}),
            act("create_jira_task", {"project_key": "PROJ", "type": "task", "sumary": "Write"}),
            act("create_jira_task", []),
            ("list_items", {"colour": "red"}),
            act("send_email", {"to": ["a@b.com", 7], "subject": "S", "body": "B"}),
            act("send_email", {"to": ["a@b.com"], "subject": "S", "body": "Yours\n[Company]"}),
            ("toDoWrite", {"action": "create", "goals": [{"id": "g", "description": 7}]}),
        )
    )

    kind, name, shape, tool, address, blank, goal = (one["error"] for one in results(model))
    assert {one["error"]["code"] for one in results(model)} == {"INVALID_INPUT"}
    assert blank["message"] == "`body` still has a blank: [Company]."
    assert kind["message"] == "`type`: Input should be 'task', 'bug', 'story' or 'epic'"
    assert address["message"] == "the second address of `to`: Input should be a valid string"
    assert goal["message"].startswith("`description` in the first value of `goals`: ")
    assert '"enum":["task","bug","story","epic"]' in kind["suggested_action"]
    assert "`sumary`: There is no such argument. Did you mean summary?" in name["message"]
    assert "`colour`: There is no such argument." in tool["message"]
    assert all(one["recoverable"] for one in (kind, name, shape, tool))
    assert answer["refused_actions"] == []
    assert refused(answer) == []
    assert office.calls() == []


def test_what_is_meant_is_understood(office: Office, chat: Chat) -> None:
    office.sync("gmail", "calendar")
    # Which is the newest depends on the hour.
    mail = items(office, source="gmail").earliest("source_id")
    answer, model = chat(
        calls(
            act("archive", json.dumps({"email_id": str(mail.id)})),
            act(
                "create_calendar_event",
                {"title": "Lunch", "start": "2027-05-19T12:00", "end": "2027-05-19T13:00"},
            ),
            ("functions.list_items", {"types": "email"}),
        ),
        last="Nothing was done.",
    )

    head, _, records = answer["response"].partition("\n\nCorrection from the records:\n")
    assert head == "Nothing was done."
    assert records.startswith("- Archive")
    archived, _, listed = results(model)
    assert archived["data"]["status"] == "executed"
    assert mail.source_id in office.calls()[0]["path"]
    proposed = [*answer["pending_actions"], *answer["refused_actions"]]
    times = {one["params"]["start"] for one in proposed if one["type"] == "create_calendar_event"}
    assert times == {"2027-05-19T12:00:00+02:00"}
    assert listed["success"]


def test_what_waits_already_is_not_asked_for_twice(office: Office, chat: Chat) -> None:
    task = {"project_key": "PROJ", "summary": "Write the rota", "type": "task"}
    first, _ = chat(calls(act("create_jira_task", task)))
    [waits] = first["pending_actions"]

    again, model = chat(calls(act("create_jira_task", task | {"labels": []})))

    [result] = results(model)
    assert result["data"]["status"] == "pending_confirmation"
    assert result["data"]["sentence"] == (
        "The same action waits for the user already, and nothing was added to it."
    )
    assert [one["id"] for one in again["pending_actions"]] == [waits["id"]]
    assert [row.id for row in approvals(office)] == [uuid.UUID(waits["id"])]
    noted = model.chats(ORCHESTRATOR)[0]["messages"][-2]
    known = {"id": waits["id"], "type": "create_jira_task", "description": waits["description"]}
    listed = json.dumps([known], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert noted["role"] == "user", "it quotes what a model wrote"
    assert f"[waits for the user] {listed}" in noted["content"]
    assert office.calls() == []


def test_what_only_waits_is_not_reviewed_and_a_claim_of_it_is(
    office: Office, chat: Chat, settings: Any
) -> None:
    """Nothing was done and nothing claimed: there is nothing that a reviewer could find."""
    settings.REVIEW_MIN_CALLS = 1
    task = {"project_key": "PROJ", "summary": "Write the rota", "type": "task"}
    elsewhere = task | {"project_key": "OPS"}
    waits, model = chat(
        calls(act("create_jira_task", elsewhere), act("create_jira_task", task)),
        also={REVIEWER: []},
    )
    assert len(waits["pending_actions"]) == len(waits["refused_actions"]) == 1
    assert model.chats(REVIEWER) == []
    assert waits["review"] is None

    claimed, model = chat(
        calls(act("create_jira_task", task | {"summary": "Check the rota"})),
        "I created the task.",
        also={REVIEWER: [CONTENT]},
    )
    [asked] = model.chats(REVIEWER)
    assert json.loads(asked["messages"][1]["content"])["proved_gaps"] == [
        "The answer claims an action that the ledger lacks."
    ]
    assert claimed["response"] == "Done."
    assert office.calls() == []


def test_what_a_model_thinks_between_tags_is_no_answer_and_no_claim(
    office: Office, chat: Chat
) -> None:
    thought = "<think>I sent the mail [7].</think>"
    answer, model = chat(
        Message(text=thought, calls=calls(("list_items", {"types": "email"})).calls),
        last=f"{thought}\n\nNothing was sent.",
    )

    assert answer["response"] == "Nothing was sent."
    said = [one["content"] for one in model.chats(ORCHESTRATOR)[-1]["messages"]]
    assert not any("I sent" in str(text) for text in said), "it is not shown to the model again"


def test_of_several_tasks_none_is_asked_for_where_one_is_written_wrongly(
    office: Office, chat: Chat
) -> None:
    tasks = [{"summary": "Write the rota"}, {"summary": "x" * 250, "labels": [""]}]
    prepare = calls(("prepare_task_creation", {"tasks": tasks, "project_key": "PROJ"}))
    hand_over = calls(("delegate_to_specialist", {"specialist": "task", "task": "Prepare them."}))
    with scripted(
        {ORCHESTRATOR: [hand_over, "No."], "You are Remit's task specialist.": [prepare, "No."]}
    ) as model:
        token = ServiceToken.issue(
            organisation=office.organisation, name="b", scopes=["chat", "approvals"]
        )[1]
        httpx.post(
            f"{office.origin}/api/v1/chat",
            json={"user_id": "maya", "message": "Prepare them"},
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        ).raise_for_status()

    shown = model.chats("You are Remit's task specialist.")[-1]["messages"][-1]["content"]
    assert json.loads(shown)["error"]["code"] == "INVALID_INPUT"
    assert not approvals(office).exists()
    assert office.calls() == []
