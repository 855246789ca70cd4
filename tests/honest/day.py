"""One task after another, each in an office of its own: what an organisation sets up, what the
guard says to each call, and what reaches the provider."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Literal
from uuid import uuid4

from django.conf import settings
from django.test import override_settings

from agents.evaluation.clock import Clock, taken_for_the_present
from audit.ledger.ids import uuid7
from guardrails.actions import registry
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute import releases
from guardrails.execute.executor import execute
from integrations.models import Account, Organisation
from tests.honest.office import CLIENT, SOURCES, furniture, introduce, members, permit
from tests.honest.tasks import Office, Task, read_office
from tests.sandbox_server import RunningSandbox, running_sandbox

# Nothing waits for its seal, and no task for another one.
SETTINGS = {"LEDGER_STOP_MINUTES": 10**6}
A_BIT_MORE = timedelta(seconds=1)
# done: without a question, also after it was held. asked: a person is. refused: nobody is.
Outcome = Literal["done", "asked", "refused"]


@dataclass(frozen=True, kw_only=True)
class Played:
    """What became of one task. `questions` are the cards that a person would see, `reasons` the
    words of each call that was not done, with the action."""

    task: Task
    results: Sequence[ActionResult]
    questions: int
    reasons: Sequence[tuple[str, str]] = field(default=())

    @property
    def outcome(self) -> Outcome:
        statuses = {outcome_of(one) for one in self.results}
        return "refused" if "refused" in statuses else "asked" if "asked" in statuses else "done"


def outcome_of(result: ActionResult) -> Outcome:
    if result.status == "pending":
        return "asked"
    return "done" if result.status in ("succeeded", "noop", "held") else "refused"


@dataclass(kw_only=True)
class Desk:
    """The office of one task: its accounts, and the rooms of its user at the provider."""

    sandbox: RunningSandbox
    clock: Clock
    accounts: Mapping[str, Account]
    user_id: str

    def ask(self, words: str, action_type: str, arguments: Mapping[str, Any]) -> ActionRequest:
        """The request of an agent that was asked for it in these words."""
        account = self.accounts[registry.BY_NAME[action_type].kind]
        return ActionRequest(
            action_id=uuid7(),
            account=account.ref(),
            action_type=action_type,
            arguments=arguments,
            origin=Origin(
                trigger="chat",
                turn_id=self.user_id,
                user_words=words,
                said_at=self.clock.now().isoformat(),
                time_zone=account.time_zone,
            ),
        )

    def calls(self) -> list[dict[str, Any]]:
        """What the provider performed."""
        answer = CLIENT.get(
            f"{self.sandbox.control}/calls?user={self.user_id}", headers=self.sandbox.headers
        )
        return [call for call in answer.raise_for_status().json()["items"] if call["performed"]]


def play(desk: Desk, task: Task, acts: Sequence[tuple[str, Mapping[str, Any]]]) -> Played:
    """All calls of a task; what is held is carried out when its time has come. Raises
    AssertionError where the guard says another thing than the provider."""
    results = []
    for action_type, arguments in acts:
        result = execute(desk.ask(task.say, action_type, arguments))
        if result.held_until is not None and result.held_send_id is not None:
            desk.clock.stand_at(result.held_until + A_BIT_MORE)
            released = releases.release(result.held_send_id)
            assert released is not None
            result = released
        results.append(result)
    done = sum(one.status == "succeeded" for one in results)
    assert len(desk.calls()) == done, (task.id, [one.sentence for one in results])
    asked = {one.approval_id for one in results if one.status == "pending"}
    reasons = [
        (one.action_type, f"{one.reason}: {one.sentence}")
        for one in results
        if outcome_of(one) != "done"
    ]
    return Played(task=task, results=results, questions=len(asked), reasons=reasons)


def seated(office: Office, task: Task, *, sandbox: RunningSandbox, clock: Clock) -> Desk:
    """A new organisation that has set up what every one does: its people and its domain, the
    presets, labels, folders and projects; and its user's rooms as they are this morning."""
    clock.stand_at(office.clock)
    slug, user_id = f"day-{uuid4().hex[:8]}", f"nora-{uuid4().hex[:8]}"
    settings.DATA_SERVICES = {slug: sandbox.url}
    settings.DATA_SERVICE_KEYS = {slug: sandbox.key}
    organisation = Organisation.objects.create(slug=slug, name="Hafenlicht")
    accounts = {
        kind: Account(
            organisation=organisation,
            external_user_id=user_id,
            source=source,
            address=office.user,
            display_name=office.people[office.user],
            time_zone=office.zone,
        )
        for kind, source in SOURCES.items()
    }
    for account in accounts.values():
        account.clean()
    Account.objects.bulk_create(accounts.values())
    introduce(organisation, office.people, domain=office.domain)
    for account in accounts.values():
        permit(account)
    rooms = {
        "address": office.user,
        "name": office.people[office.user],
        "items": furniture(office, task),
        "audiences": {"projects": members(office)},
    }
    answer = CLIENT.post(f"{sandbox.control}/users/{user_id}", json=rooms, headers=sandbox.headers)
    assert answer.is_success, answer.text
    return Desk(sandbox=sandbox, clock=clock, accounts=accounts, user_id=user_id)


def count(played: Sequence[Played]) -> dict[str, Any]:
    """The figures of all tasks together."""
    outcomes = Counter(one.outcome for one in played)
    number = len(played)
    return {
        "tasks": number,
        "done": round(outcomes["done"] / number, 3),
        "done_or_asked": round((outcomes["done"] + outcomes["asked"]) / number, 3),
        "refused": round(outcomes["refused"] / number, 3),
        "asks_per_task": round(sum(one.questions for one in played) / number, 2),
    }


@dataclass(kw_only=True)
class OfficeDay:
    """A running sandbox whose clock and ours stand at the office's morning."""

    sandbox: RunningSandbox
    clock: Clock

    def play(self, task: Task) -> Played:
        """A task as it was asked for."""
        return self._play(task, task.acts)

    def play_wrong(self, task: Task, name: str) -> Played:
        """A task whose first call is its wrong twin of this name, and the only one."""
        action_type, arguments = task.acts[0]
        return self._play(task, [(action_type, {**arguments, **task.wrong[name]})])

    def _play(self, task: Task, acts: Sequence[tuple[str, Mapping[str, Any]]]) -> Played:
        desk = seated(read_office(), task, sandbox=self.sandbox, clock=self.clock)
        return play(desk, task, acts)


@contextmanager
def office_day() -> Iterator[OfficeDay]:
    """All that tasks need, until the end of the block. A database must be in use."""
    clock = Clock(read_office().clock)
    with (
        override_settings(**SETTINGS),
        running_sandbox(with_office=False) as sandbox,
        taken_for_the_present(clock),
    ):
        yield OfficeDay(sandbox=sandbox, clock=clock)
