"""Sixteen workers speak about the same approvals at once; each action happens once or never.

A round is one word given by one worker on one approval: confirm, reject, edit, delegate,
escalate, expire, or a kill switch thrown, tried and lifted. REMIT_ROUNDS sets how many there
are in all (default: each batch once).
"""

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from audit.contracts import Recorded
from audit.ledger.selectors import recorded
from guardrails.approve import approval_rows, deadlines
from guardrails.execute import switches
from guardrails.execute.executor import execute
from guardrails.models import Approval
from guardrails.policies.changes import Author
from integrations.models import Account
from tests.guardrails.office import Office
from tests.long import times
from tests.racing import Command, Racer, give, racer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.django_db(databases=["default", "ledger"], transaction=True),
]
WORKERS, PROCESSES, AT_ONCE = 16, times(1, long=3), times(2, long=10)
THREADS = WORKERS - PROCESSES
# What is said in a batch, and how often each word; one batch after the other, in turn.
WORDS: tuple[dict[str, int], ...] = (
    {"confirm": 3, "reject": 1},
    {"edit": 6, "confirm": 1, "delegate": 1},
    {"reject": 2, "edit": 2, "delegate": 2, "escalate": 1, "confirm": 1},
    {"confirm": 2, "expire": 1},
    {"confirm": 6, "reject": 2, "edit": 3, "delegate": 2, "escalate": 1, "expire": 1, "switch": 3},
)
ROUNDS = int(os.environ.get("REMIT_ROUNDS", len(WORDS) * WORKERS * AT_ONCE))
DECISIONS = {"approved", "rejected", "edited", "approval_expired"}
TERMINAL = {
    "executed": "approved",
    "refused": "approved",
    "failed": "approved",
    "rejected": "rejected",
    "superseded": "edited",
    "expired": "approval_expired",
}
AUTHOR = Author(name="operator:olga", door="admin")


@pytest.fixture
def racers(office: Office) -> Iterator[list[Racer]]:
    """Remit in processes of its own, on this test's database and sandbox."""
    slug = office.organisation.slug
    environment = {
        "DATA_SERVICES": f"{slug}={office.sandbox.url}",
        "DATA_SERVICE_KEYS": f"{slug}={office.sandbox.key}",
    }
    with ExitStack() as stack:
        yield [stack.enter_context(racer(environment)) for _ in range(PROCESSES)]


class Race:
    """The office's approvals and all that is said about them."""

    def __init__(self, office: Office, racers: list[Racer]) -> None:
        self.office, self.racers = office, racers
        self.answers: Counter[str] = Counter()
        self.switching = threading.Lock()
        self.acknowledged = 0  # switches that promised that nothing begins

    def ask(self, number: int) -> list[str]:
        """So many new approvals."""
        ids = []
        for index in range(number):
            wish = {"project_key": "PROJ", "summary": f"Task {index}", "type": "task"}
            result = execute(self.office.request("create_jira_task", wish))
            assert result.status == "pending", result.sentence
            ids.append(str(result.approval_id))
        return ids

    def run(self, batch: int) -> int:
        """One batch: every worker says one word on every approval. How many words that were."""
        ids = self.ask(AT_ONCE)
        with ThreadPoolExecutor(THREADS + PROCESSES) as pool:
            work = [
                pool.submit(self.work, ids, batch=batch, worker=worker)
                for worker in range(THREADS + PROCESSES)
            ]
            for one in work:
                one.result()
        return len(ids) * (THREADS + PROCESSES)

    def work(self, ids: list[str], *, batch: int, worker: int) -> None:
        chance = random.Random(1000 * batch + worker)
        process = self.racers[worker - THREADS] if worker >= THREADS else None
        try:
            for approval in chance.sample(ids, len(ids)):
                command = self.command(approval, chance, WORDS[batch % len(WORDS)])
                if command["word"] == "switch":
                    command["word"] = "confirm"
                    if process is None:
                        self.switch(command)
                        continue
                answer = process.give(command) if process else give(command)
                self.answers[f"{command['word']}: {answer}"] += 1
        finally:
            connections.close_all()

    def command(self, approval: str, chance: random.Random, words: dict[str, int]) -> Command:
        return {
            "approval": approval,
            "organisation": str(self.office.organisation.id),
            "word": chance.choices(list(words), weights=list(words.values()))[0],
            "user": chance.choice([None, None, self.office.user_id, "omar"]),
            "to": chance.choice(["user:omar", f"user:{self.office.user_id}"]),
            "summary": f"Changed {chance.randrange(10**6)}",
            "newest": chance.random() < 0.5,
        }

    def switch(self, command: Command) -> None:
        """Throw, try to confirm, lift: between the promise and the lifting nothing is done."""
        with self.switching:
            scope = switches.Scope(
                organisation_id=self.office.organisation.id, action_type="create_jira_task"
            )
            thrown = switches.throw(scope, why="A test.", author=AUTHOR)
            assert thrown.under_way == 0
            before = self.office.calls()
            self.answers[f"under a switch: {give(command | {'user': None})}"] += 1
            assert self.office.calls() == before
            assert switches.lift(switch_id=thrown.switch_id, why="Over.", author=AUTHOR)
            self.acknowledged += 1


def close(office: Office) -> None:
    """What the sweep does later: what waits expires, what was left behind is finished."""
    for approval_id in Approval.objects.filter(
        organisation=office.organisation, state="pending"
    ).values_list("id", flat=True):
        Approval.objects.filter(id=approval_id).update(expires_at=timezone.now())
        approval_rows.expire(approval_id)
    deadlines.finish_confirmed(older_than_seconds=0, now=timezone.now())


def assert_consistent(approval: Approval, rows: tuple[Recorded, ...], effects: int) -> None:
    """One end, one decision row that fits it, and an effect at the provider if and only if
    the ledger says so, after a yes and never after a no."""
    assert approval.state in TERMINAL
    decisions = [row.decision_reason for row in rows if row.decision_reason in DECISIONS]
    assert decisions == [TERMINAL[approval.state]]
    assert effects == (1 if approval.state == "executed" else 0)
    succeeded = [row for row in rows if row.phase == "outcome" and row.status == "succeeded"]
    assert len(succeeded) == effects
    attempts = [row for row in rows if row.phase == "attempt"]
    if decisions != ["approved"]:
        assert attempts == []
    ended = [row.id for row in rows if row.status == "denied" or row.phase == "blocked"]
    assert len(ended) <= 1
    assert all(row.id < end for row in attempts for end in ended)
    revision = Approval.objects.filter(revises=approval).first()
    assert (revision is not None) == (approval.state == "superseded")
    if revision is not None:
        parents = {row.parent_action_id for row in recorded(revision.action_id)}
        assert parents == {approval.action_id}


def test_each_action_happens_once_or_never(
    office: Office, racers: list[Racer], settings: Any
) -> None:
    settings.MAX_OPEN_ASKS_PER_TURN = settings.MAX_OPEN_ASKS_PER_ACCOUNT = 10**6
    office.permit("create_jira_task", "ask")
    office.list_target("create_jira_task", "project", "PROJ", "Customer Portal")
    Account.objects.create(
        organisation=office.organisation, external_user_id="omar", source="gmail"
    )
    race, rounds, batch = Race(office, racers), 0, 0
    while rounds < ROUNDS:
        rounds += race.run(batch)
        batch += 1
    close(office)

    calls = office.calls()
    effects = Counter(
        call["idempotency_key"] for call in calls if call["performed"] and not call["replayed"]
    )
    approvals = list(Approval.objects.filter(organisation=office.organisation))
    for approval in approvals:
        number = effects.pop(f"remit-{approval.action_id}", 0)
        assert_consistent(approval, recorded(approval.action_id), number)
    assert effects == {}
    states = Counter(approval.state for approval in approvals)
    assert states["executed"] > 0
    assert race.acknowledged > 0
    print(f"{rounds} rounds, {len(approvals)} approvals: {dict(states)}; {dict(race.answers)}")
