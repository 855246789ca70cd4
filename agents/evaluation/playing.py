"""One task, played once: what the user and others do, and what came of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Max, Sum
from django_q.models import OrmQ

from agents.evaluation import office, state
from agents.evaluation.clock import Clock
from agents.evaluation.outcome import LedgerLine, Played, Use
from agents.evaluation.person import TaskUser
from agents.evaluation.sandbox import Sandbox
from agents.evaluation.tasks import POLICY, Head, Task, Turn, User
from agents.inbound import reactions
from agents.models import ToolCall, Turn as TurnRow
from audit.models import ExecutedAgentAction
from integrations.models import Delivery, ModelCall
from integrations.network import http

CHAT_SECONDS = 24 * 3600.0
MOST_WORDS = 8  # answers and decisions after one message
BETWEEN_TURNS = timedelta(minutes=1)


class Broke(Exception):
    """Remit did not answer as its API promises."""


@dataclass(kw_only=True)
class Play:
    """`chat` speaks to the chat API for all users; `moment` is the time at which it begins."""

    task: Task
    head: Head
    sandbox: Sandbox
    clock: Clock
    chat: http.Upstream
    moment: datetime
    _session: str | None = None
    _played: Played = field(default_factory=Played)

    def run(self) -> Played:
        """Play it to its end. What breaks is in what is returned, with all that came before."""
        for collection, objects in self.task.seed.items():
            put = self.sandbox.put(self._user, collection, objects, now=self.moment, notify=False)
            office.take_in(self._user, collection, put)
        if self.task.policy != POLICY:
            office.permit(self.head.policies[self.task.policy])
        base = self.sandbox.state()
        try:
            for number, turn in enumerate(self.task.script):
                now = self.moment + BETWEEN_TURNS * number
                self.clock.stand_at(now)
                self.sandbox.stand_at(now)
                base = self._others(turn, base, now)
                if turn.say:
                    self._converse(turn.say)
        except Broke as error:
            self._played.broke = str(error)
        self.sandbox.break_down({})
        self._work_off()
        self._look(base)
        return self._played

    @property
    def _user(self) -> User:
        return next(user for user in self.head.users if user.id == self.task.user)

    def _others(self, turn: Turn, base: state.State, now: datetime) -> state.State:
        """What happens elsewhere; the base as if it had been so from the start."""
        if turn.elsewhere:
            before = self.sandbox.state()
            self.sandbox.happen(self._user, turn.elsewhere, now=now)
            base = state.with_changes_of_others(base, before, self.sandbox.state())
            self._work_off()
        if turn.faults is not None:
            self.sandbox.break_down(turn.faults)
        return base

    def _converse(self, message: str) -> None:
        """Say something, and answer and decide until nothing is open."""
        user = TaskUser(self.task, ZoneInfo(self._user.time_zone))
        response = self._post({"message": message})
        for _ in range(MOST_WORDS):
            if (answer := user.reply(response)) is not None:
                self._played.questions += 1
                response = self._post({"message": answer})
            elif response["pending_actions"]:
                words, asked = user.decide(response)
                self._played.asked += asked
                response = self._post({"message": "", **words})
            else:
                break
        self._work_off()

    def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        said = {"user_id": self.task.user, "session_id": self._session, **body}
        answer = http.call(self.chat, "/api/v1/chat", said, seconds=CHAT_SECONDS)
        if answer.status != 200:
            text = answer.content.decode(errors="replace")
            raise Broke(f"The chat API answered {answer.status}: {text[:500]}")
        response: dict[str, Any] = json.loads(answer.content)
        self._session = response["session_id"]
        self._played.responses.append(response)
        if response["ending"] == "error":
            raise Broke(f"The turn ended in an error: {response['response']}")
        return response

    def _work_off(self) -> None:
        """Run queued tasks and deliveries, and what follows from them, until nothing is left."""
        self.sandbox.settle()
        while self._work_off_one():
            self.sandbox.settle()

    def _work_off_one(self) -> bool:
        row = OrmQ.objects.order_by("id").first()
        if row is None:
            waits = Delivery.objects.waiting().exists()
            if waits:
                reactions.react_side_by_side()
            return waits
        if OrmQ.objects.filter(id=row.id).delete()[0]:
            task = row.task
            task["func"](*task.get("args", ()), **task.get("kwargs", {}))
        return True

    def _look(self, base: state.State) -> None:
        """Keep what the task is judged by."""
        played = self._played
        played.differences = state.find_differences(base, self.sandbox.state())
        played.writes = self.sandbox.writes()
        turns = list(TurnRow.objects.values_list("id", flat=True))
        rows = ExecutedAgentAction.objects.filter(run_id__in=[str(id) for id in turns])
        # What is done about a thread, with no agent asked, is not what the task is about.
        alone = TurnRow.objects.filter(kind=TurnRow.Kind.THREAD).values_list("id", flat=True)
        by_agents = rows.exclude(run_id__in=[str(id) for id in alone])
        latest = {row.action_id: row for row in by_agents.order_by("id")}
        played.ledger = [
            LedgerLine(action=row.action_type, status=row.status, reason=row.decision_reason)
            for row in latest.values()
        ]
        keys = set(rows.values_list("idempotency_key", flat=True))
        played.unrecorded = sum(one["idempotency_key"] not in keys for one in played.writes)
        cited = [one["id"] for response in played.responses for one in response["citations"]]
        played.cited = office.provider_ids(cited)
        calls = ToolCall.objects.filter(turn_id__in=turns)
        played.malformed = calls.filter(result__error__code="INVALID_INPUT").count()
        asked = ModelCall.objects.filter(run_id__in=turns).exclude(purpose="embedding")
        used = asked.aggregate(
            prompt_tokens=Sum("prompt_tokens", default=0),
            cached_tokens=Sum("cached_tokens", default=0),
            answer_tokens=Sum("answer_tokens", default=0),
        )
        played.use = Use(calls=asked.count(), **used)
        longest = dict(asked.values_list("run_id").annotate(longest=Max("prompt_tokens")))
        own = [UUID(response["turn_id"]) for response in played.responses]
        played.prompts = [longest.get(id, 0) for id in own]
