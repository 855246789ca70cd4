"""Processes are killed on both paths; afterwards everything is done once.

Here around what reaches others: before and after a write at the provider, and when its outcome is
kept. `make bench NAME=long` kills at every point (tests/crashing.py). After each kill the sweep
takes the work up again, as it does every minute in the cluster.
"""

import json
import random
import uuid
from itertools import count
from typing import Any

import httpx
import pytest

from agents.models import Message, Turn
from audit.models import ExecutedAgentAction
from guardrails.models import Approval
from integrations.models import Delivery, ServiceToken
from knowledge.models import Item
from tests.agents.waiting import turn_of
from tests.crashing import CHAT, Crashing, Die
from tests.long import times
from tests.model_server import Reply, Script, calls
from tests.office import Office
from tests.stories.steps import scripted, take_up_again

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
STORY = ("Create Jira tasks from John's proposal email", "John Smith")
BEFORE = ["POST"]  # the attempt is committed, and the provider knows nothing yet
AFTER = ["POST", "POST"]  # it has done it, and nobody has noted that
KEPT = [*AFTER, "commit", "commit"]  # the outcome is committed


def deaths(passed: list[str], *telling: Die, every: int = 1) -> list[Die]:
    """At which points processes die. In the bench at all, or at each so many, from one that is
    drawn, so that all have their turn."""
    all_of_them: list[Die] = list(range(random.randint(1, every), len(passed) + 1, every))
    return times(list(telling), long=all_of_them)


def assert_each_effect_happened_once_and_is_recorded(office: Office) -> None:
    """Every effect at the provider has one attempt and one outcome, and none has two."""
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    keys = [call["idempotency_key"] for call in effects]
    outcomes = ExecutedAgentAction.objects.filter(
        phase="outcome", status="succeeded", idempotency_key__in=keys
    ).values_list("idempotency_key", flat=True)

    assert len(keys) == len(set(keys))
    assert sorted(outcomes) == sorted(keys)


def outcome_of(delivery: Delivery) -> tuple[Any, ...]:
    turn = Turn.objects.get(delivery=delivery)
    done = [(a["type"], a["status"]) for a in turn.actions]
    return delivery.state, turn.state, done


def accept(program: Crashing, mail: dict[str, Any], *, id: str, die: Die = None) -> dict[str, Any]:
    event = {
        "kind": "created",
        "user_id": "maya",
        "source": "gmail",
        "source_id": mail["id"],
        "content_type": "email",
        "data": mail,
        "timestamp": mail["date"],
    }
    return program.run("accept", die=die, id=id, event=event)


def new_mail(office: Office) -> dict[str, Any]:
    """A question in Maya's mailbox, of which no webhook has told yet."""
    id = f"mail_{uuid.uuid4().hex}"
    mail = {
        "id": id,
        "thread_id": id,
        "message_id": f"<{id}@brightfarm.example>",
        "from": "sofia.rossi@brightfarm.example",
        "from_name": "Sofia Rossi",
        "to": ["maya@company.com"],
        "subject": "Training",
        "body_text": "Dear Maya, could you send us the agenda?",
        "date": "2026-11-20T10:00:00Z",
        "labels": ["INBOX", "UNREAD"],
        "authentication": {"spf": "pass", "dkim": "pass", "dmarc": "pass"},
    }
    office.control("POST", "/users/maya/emails", json={"items": [mail], "notify": False})
    return office.mail(id)


def test_a_kill_while_a_webhook_is_accepted_stores_all_of_it_or_nothing(
    office: Office, program: Crashing
) -> None:
    whole = accept(program, new_mail(office), id="whole")["passed"]
    points = deaths(whole, ["statement"], ["statement"] * 2)
    for die in points:
        mail, id = new_mail(office), f"killed_at_{die}"
        assert accept(program, mail, id=id, die=die)["killed"]
        accept(program, mail, id=id)  # the sender had no 202 and tries again

    assert Delivery.objects.count() == Delivery.objects.waiting().count() == len(points) + 1


def test_a_worker_killed_on_the_way_through_a_mail_does_everything_once(
    office: Office, program: Crashing
) -> None:
    def delivery() -> Delivery:
        id = uuid.uuid4().hex
        accept(program, new_mail(office), id=id)
        return Delivery.objects.get(webhook_id=id)

    whole = [delivery(), delivery()]  # the first one also stores the policy's version
    passed = [program.run("react", id=str(one.id))["passed"] for one in whole][-1]
    whole[0].refresh_from_db()
    expected = outcome_of(whole[0])
    assert expected == (
        "processed",
        "finished",
        [("classify", "succeeded"), ("draft", "succeeded")],
    )

    # The last step and the ends of turn and delivery are one commit, after a look at the thread. As
    # a draft waits in it, the first one that is begun is left again, for another look.
    replied = ["model"] * passed.count("model")
    last = passed[len(passed) - passed[::-1].index("model") :]
    end = [[*replied, *last[:n]] for n, name in enumerate(last, 1) if name in ("GET", "commit")]
    assert [die[-1] for die in end] == [*["GET"] * 2, *["commit"] * 2] * 2
    first = ["model", "model", "commit"]
    stored = ["GET"]  # the mail, with the beginning of its turn
    points = deaths(passed, first, stored, BEFORE, AFTER, KEPT, AFTER * 2, replied, *end)
    rows = []
    for die in points:
        rows.append(delivery())
        assert program.run("react", id=str(rows[-1].id), die=die)["killed"], die
    take_up_again(office)

    for row in rows:
        row.refresh_from_db()
        assert outcome_of(row) == expected
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    assert len(effects) == 2 * (len(rows) + len(whole))


def test_a_web_process_killed_in_a_chat_leaves_a_turn_that_is_finished_once(
    office: Office, program: Crashing
) -> None:
    office.sync("gmail", "jira")
    story = Story(office, program)

    whole = story.tell()
    assert [len(answer["completed_actions"]) for answer in whole] == [0, 0, 3]

    telling: tuple[tuple[int, int, list[Die]], ...] = (
        (1, 31, [["model", "model"]]),
        (2, 23, [["model"] * 4]),
        (3, 17, [BEFORE, AFTER]),
    )
    for request, every, points in telling:
        for die in times(iter(points), long=count(random.randint(1, every), every)):
            killed = story.killed
            story.tell(request=request, die=die)
            if story.killed == killed:
                break

    assert story.killed >= 4
    assert not Turn.objects.exclude(state="finished").exists()
    users, assistants = (Message.objects.filter(role=r).count() for r in ("user", "assistant"))
    assert users == assistants == Turn.objects.count()
    assert set(Approval.objects.values_list("state", flat=True)) == {"executed"}
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    assert len(effects) == Approval.objects.count() == 3 * story.told


def test_a_process_killed_while_two_agents_are_at_work_leaves_a_turn_that_is_finished_once(
    office: Office, program: Crashing
) -> None:
    office.sync("gmail")
    mails = list(Item.objects.filter(source="gmail", sender_address="john@company.com")[:2])
    tasks = [{"specialist": "email", "task": f"Answer {mail.id}."} for mail in mails]

    def is_over(body: dict[str, Any]) -> bool:
        return any(message["role"] == "tool" for message in body["messages"])

    def hand_over(body: dict[str, Any]) -> Reply:
        both = calls(*(("delegate_to_specialist", task) for task in tasks))
        return "Done." if is_over(body) else both

    def answer(body: dict[str, Any]) -> Reply:
        [mail] = [mail for mail in mails if str(mail.id) in json.dumps(body["messages"][1])]
        return "Drafted." if is_over(body) else calls(("draft_reply", {"item_id": str(mail.id)}))

    def start() -> Turn:
        id = turn_of(office.organisation, message="Draft replies to both")
        return Turn.objects.get(id=id)

    script: Script = {
        "You are Remit's orchestrator.": hand_over,
        "You are Remit's email specialist.": answer,
        "You draft a reply.": lambda _: {"body": "Yes."},
    }
    with scripted(script):
        turns = [start()]
        passed = program.run("turn", id=str(turns[0].id))["passed"]
        for die in deaths(passed, BEFORE, AFTER, KEPT, every=2):
            turns.append(start())
            assert program.run("turn", id=str(turns[-1].id), die=die)["killed"], die
        take_up_again(office)

    for turn in turns:
        turn.refresh_from_db()
        done = [(action["type"], action["status"]) for action in turn.actions]
        assert (turn.ending, done) == ("reply", [("draft", "succeeded")] * 2)
        handed = turn.calls.filter(name="delegate_to_specialist").order_by("position")
        assert [(one.result or {})["data"]["result"] for one in handed] == ["Drafted."] * 2
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    drafts = [c for c in effects if c["method"] == "POST"]
    assert len(drafts) == 2 * len(turns)
    # Each turn's drafts take the place of those of the turn before it.
    assert len(effects) - len(drafts) == 2 * (len(turns) - 1)


class Story:
    """The seed's story, told over HTTP. A web process that is killed on the way is one of its own;
    what it leaves undone is done by the office's."""

    def __init__(self, office: Office, program: Crashing) -> None:
        self.office, self.program = office, program
        token = ServiceToken.issue(
            organisation=office.organisation, name="web", scopes=["chat", "approvals"]
        )[1]
        self.headers = {"Authorization": f"Bearer {token}"}
        self.told = self.killed = 0

    def tell(self, *, request: int = 0, die: Die = None) -> list[dict[str, Any]]:
        """The three answers. The process that answers `request` dies at this point."""
        answers: list[dict[str, Any]] = []
        for number, words in enumerate((*STORY, ""), 1):
            body: dict[str, Any] = {"user_id": "maya", "message": words}
            if answers:
                body["session_id"] = answers[-1]["session_id"]
            if not words:
                body["confirm_actions"] = [a["id"] for a in answers[-1]["pending_actions"]]
            answers.append(self.ask_twice(body, die) if number == request else self.ask(body))
        self.told += 1
        return answers

    def ask(self, body: dict[str, Any], origin: str = "") -> dict[str, Any]:
        response = httpx.post(
            f"{origin or self.office.origin}{CHAT}", json=body, headers=self.headers, timeout=60
        )
        assert response.status_code == 200, response.text
        return dict(response.json())

    def ask_twice(self, body: dict[str, Any], die: Die) -> dict[str, Any]:
        """Of a process that dies, and then, unless the turn was stored, once more."""
        before = Turn.objects.count()
        server = self.program.run("serve", die=die)
        try:
            return self.ask(body, f"http://127.0.0.1:{server['port']}")
        except httpx.TransportError:
            self.killed += 1
        finally:
            self.program.stop(server["pid"])
        take_up_again(self.office)
        if Turn.objects.count() == before:
            return self.ask(body)
        address = f"{self.office.origin}/api/v1/turns/{Turn.objects.latest('created_at').id}"
        return dict(httpx.get(address, headers=self.headers).raise_for_status().json())
