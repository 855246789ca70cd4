"""Processes are killed at every step of both paths; afterwards everything is done once.

A step is an SQL statement, a commit, or one side of a call over the network. After each
kill the sweep takes the work up again, as it does every minute in the cluster.
"""

import json
import os
import random
import signal
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone
from django_q.models import OrmQ

from agents import tasks
from agents.models import Message, Turn
from agents.turns import opening
from audit.models import ExecutedAgentAction
from guardrails.models import Approval
from integrations.models import Delivery, ServiceToken
from knowledge.models import Item
from tests.crashing import Crashing, crashing
from tests.long import times
from tests.model_server import Reply, Script, calls
from tests.office import Office, until
from tests.stories.steps import scripted

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
# Each how many steps a process is killed. Where it begins is drawn, so that all have their turn.
EVERY, SELDOMER = times(16, long=2), times(8, long=1)
STORY = ("Create Jira tasks from John's proposal email", "John Smith")


@pytest.fixture
def program(office: Office) -> Iterator[Crashing]:
    with remit(office) as running:
        yield running


@contextmanager
def remit(office: Office) -> Iterator[Crashing]:
    """Remit in processes of its own, on this test's database, sandbox and model."""
    database = connection.settings_dict
    place = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    environment = {
        "DATABASE_URL": f"postgres://{database['USER']}:{database['PASSWORD']}@{place}",
        "DATA_SERVICES": f"default={office.sandbox.url}",
        "DATA_SERVICE_KEYS": f"default={office.sandbox.key}",
        "OPENAI_BASE_URL": settings.OPENAI_BASE_URL,
        "OPENAI_API_KEY": "offline",
        "CHAT_MODEL": "offline-rules",
        "INGEST_MODEL": "offline-rules",
        "EMBEDDING_MODEL": "offline-hash-384",
        "SECRET_KEY": settings.SECRET_KEY,
        "LEDGER_KEY": settings.LEDGER_KEY,
        "LOG_LEVEL": "CRITICAL",
    }
    with crashing(environment) as running:
        yield running


def take_up_again(office: Office) -> None:
    """What the cluster does after a crash, without waiting for leases to run out."""
    past = timezone.now()
    for model in (Delivery, Turn):
        model.objects.filter(state__in=["queued", "running"]).update(lease_expires_at=past)
    OrmQ.objects.all().delete()  # the dead worker's tasks are locked for minutes
    tasks.sweep()
    office.drain()
    Delivery.objects.filter(state="queued").update(lease_expires_at=past)  # no wait for retries
    tasks.sweep()
    office.drain()


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


def accept(program: Crashing, mail: dict[str, Any], *, id: str, kill_at: int = 0) -> dict[str, Any]:
    event = {
        "kind": "created",
        "user_id": "maya",
        "source": "gmail",
        "source_id": mail["id"],
        "content_type": "email",
        "data": mail,
        "timestamp": mail["date"],
    }
    return program.run("accept", kill_at=kill_at, id=id, event=event)


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
    steps = accept(program, new_mail(office), id="whole")["passed"]
    for step in range(1, steps + 1):
        mail, id = new_mail(office), f"killed_at_{step}"
        assert accept(program, mail, id=id, kill_at=step)["killed"]
        stored = Delivery.objects.filter(webhook_id=id).count()
        queued = OrmQ.objects.count()
        assert stored == queued - Delivery.objects.exclude(webhook_id=id).count()
        accept(program, mail, id=id)  # the sender had no 202 and tries again

    assert Delivery.objects.count() == OrmQ.objects.count() == steps + 1
    assert steps >= 8


def test_a_worker_killed_at_every_step_of_a_mail_does_everything_once(
    office: Office, program: Crashing
) -> None:
    def delivery() -> Delivery:
        id = uuid.uuid4().hex
        accept(program, new_mail(office), id=id)
        return Delivery.objects.get(webhook_id=id)

    whole = delivery()
    steps = program.run("react", id=str(whole.id))["passed"]
    whole.refresh_from_db()
    expected = outcome_of(whole)
    assert expected == (
        "processed",
        "finished",
        [("classify", "succeeded"), ("draft", "succeeded")],
    )

    rows, kills = [], 0
    for step in range(random.randint(1, EVERY), steps + 1, EVERY):
        rows.append(delivery())
        if not program.run("react", id=str(rows[-1].id), kill_at=step)["killed"]:
            break  # the first mail had a few steps more: it stored the policy's version
        kills += 1
    take_up_again(office)

    for row in rows:
        row.refresh_from_db()
        assert outcome_of(row) == expected
    assert kills >= 100 // EVERY
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    assert len(effects) == 2 * (len(rows) + 1)


def test_a_web_process_killed_at_any_step_of_a_chat_leaves_a_turn_that_is_finished_once(
    office: Office, program: Crashing
) -> None:
    office.sync("gmail", "jira")
    token = ServiceToken.issue(organisation=office.organisation, name="web", scopes=["chat"])[1]
    story = Story(program, token)

    whole = story.tell()
    assert [len(answer["completed_actions"]) for answer in whole] == [0, 0, 3]

    kills = 0
    for turn, every in ((0, 31), (1, 23), (2, 17)):
        step = 1
        while story.tell(kill_turn=turn, kill_at=step, resume=lambda: take_up_again(office)):
            kills += story.killed
            if not story.killed:
                break
            step += every * SELDOMER

    assert kills >= 30 // SELDOMER
    assert not Turn.objects.exclude(state="finished").exists()
    users, assistants = (Message.objects.filter(role=r).count() for r in ("user", "assistant"))
    assert users == assistants == Turn.objects.count()
    assert set(Approval.objects.values_list("state", flat=True)) == {"executed"}
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    assert len(effects) == Approval.objects.count() == 3 * story.told


def test_a_process_killed_while_two_agents_are_at_work_leaves_a_turn_that_is_finished_once(
    office: Office,
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
        id = opening.start_turn(
            organisation_id=office.organisation.id,
            external_user_id="maya",
            conversation_id=None,
            message="Draft replies to both",
            decisions=[],
            principal="test",
            queued=True,
        )
        return Turn.objects.get(id=id)

    script: Script = {
        "You are Remit's orchestrator.": hand_over,
        "You are Remit's email specialist.": answer,
        "You draft a reply.": lambda _: {"body": "Yes."},
    }
    with scripted(script), remit(office) as program:
        turns = [start()]
        steps = program.run("turn", id=str(turns[0].id))["passed"]
        kills = 0
        for step in range(random.randint(1, EVERY), steps + 1, EVERY):
            turns.append(start())
            kills += program.run("turn", id=str(turns[-1].id), kill_at=step)["killed"]
        take_up_again(office)

    assert kills >= 60 // EVERY
    for turn in turns:
        turn.refresh_from_db()
        done = [(action["type"], action["status"]) for action in turn.actions]
        assert (turn.ending, done) == ("reply", [("draft", "succeeded")] * 2)
        handed = turn.calls.filter(name="delegate_to_specialist").order_by("position")
        assert [(one.result or {})["data"]["result"] for one in handed] == ["Drafted."] * 2
    assert_each_effect_happened_once_and_is_recorded(office)
    effects = [c for c in office.calls() if c["performed"] and not c["replayed"]]
    assert len(effects) == 2 * len(turns)


class Story:
    """The seed's story, told over HTTP to a web process that may be killed on the way."""

    def __init__(self, program: Crashing, token: str) -> None:
        self.program = program
        self.headers = {"Authorization": f"Bearer {token}"}
        self.told = 0
        self.killed = False

    def tell(
        self, *, kill_turn: int | None = None, kill_at: int = 0, resume: Any = None
    ) -> list[dict[str, Any]]:
        """The three answers. The process that answers `kill_turn` dies at its step `kill_at`."""
        self.killed = False
        session: str | None = None
        answers: list[dict[str, Any]] = []
        for turn in range(3):
            body: dict[str, Any] = {"user_id": "maya", "message": (*STORY, "")[turn]}
            if session:
                body["session_id"] = session
            if turn == 2:
                body["confirm_actions"] = [a["id"] for a in answers[1]["pending_actions"]]
            before = Turn.objects.count()
            answer = self.post(body, kill_at=kill_at if turn == kill_turn else 0)
            if answer is None:
                self.killed = True
                resume()
                stored = Turn.objects.count() > before
                answer = self.read_last() if stored else self.post(body, kill_at=0)
            assert answer is not None
            session = answer["session_id"]
            answers.append(answer)
        self.told += 1
        return answers

    def post(self, body: dict[str, Any], *, kill_at: int) -> dict[str, Any] | None:
        """The answer; None when the process died before it gave one."""
        with self.serving(kill_at) as origin:
            try:
                response = httpx.post(
                    f"{origin}/api/v1/chat", json=body, headers=self.headers, timeout=60
                )
            except httpx.TransportError:
                return None
        assert response.status_code == 200, response.text
        return dict(response.json())

    def read_last(self) -> dict[str, Any]:
        last = Turn.objects.latest("created_at")
        with self.serving(0) as origin:
            response = httpx.get(f"{origin}/api/v1/turns/{last.id}", headers=self.headers)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def serving(self, kill_at: int) -> "Serving":
        return Serving(self.program, kill_at)


class Serving:
    """A web process of its own, gone at the end of the block."""

    def __init__(self, program: Crashing, kill_at: int) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            self.port = probe.getsockname()[1]
        self.pid = program.run("serve", kill_at=kill_at, port=self.port, background=True)["pid"]

    def __enter__(self) -> str:
        origin = f"http://127.0.0.1:{self.port}"

        def up() -> bool:
            try:
                return httpx.get(f"{origin}/health").status_code == 200
            except httpx.TransportError:
                return False

        until(up)
        return origin

    def __exit__(self, *_: object) -> None:
        os.kill(self.pid, signal.SIGKILL)
