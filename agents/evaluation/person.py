"""The user of a task, who answers questions and decides as the task says. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from agents.evaluation.matching import fits
from agents.evaluation.outcome import Asked
from agents.evaluation.tasks import Answer, Decision, Task

UNFORESEEN = "I do not know. Please decide by what you find, or leave it."
DID = {"approve": "approved", "reject": "rejected", "change": "changed"}


class TaskUser:
    """Each written answer is given as often as it fits. What is not foreseen is rejected."""

    def __init__(self, task: Task, zone: ZoneInfo) -> None:
        self._task = task
        self._zone = zone

    def reply(self, response: Mapping[str, Any]) -> str | None:
        """What the user says to a question; None where there is none."""
        if not response["needs_clarification"]:
            return None
        question = response["clarification"] or {}
        asked = " ".join(
            [
                str(response["response"]),
                str(question.get("question", "")),
                *map(str, question.get("options", ())),
            ]
        )
        return _fitting(self._task.answers, asked)

    def decide(self, response: Mapping[str, Any]) -> tuple[dict[str, Any], list[Asked]]:
        """The part of a chat request that decides about all that waits, and what was decided."""
        confirmed, rejected, edits, digests = [], [], [], {}
        asked = []
        for action in response["pending_actions"]:
            decision = self._decision(action)
            do = decision.do if decision else "reject"
            digests[action["id"]] = action["digest"]
            if do == "approve":
                confirmed.append(action["id"])
            elif do == "change" and decision:
                edits.append({"id": action["id"], "params": decision.params})
            else:
                rejected.append(action["id"])
            if not action["revises"]:
                foreseen = decision is not None
                asked.append(Asked(action=action["type"], did=DID[do], foreseen=foreseen))
        words: dict[str, Any] = {"confirm_actions": confirmed, "reject_actions": rejected}
        return words | {"edits": edits, "digests": digests}, asked

    def _decision(self, action: Mapping[str, Any]) -> Decision | None:
        if action["revises"]:
            return Decision(do="approve")  # it is what the user changed it into
        return next((one for one in self._task.decisions if self._is_about(one, action)), None)

    def _is_about(self, decision: Decision, action: Mapping[str, Any]) -> bool:
        return decision.action in ("", action["type"]) and all(
            fits(action["params"].get(name), wanted, zone=self._zone, name=name)
            for name, wanted in decision.where.items()
        )


def _fitting(answers: Sequence[Answer], asked: str) -> str:
    for answer in answers:
        if re.search(answer.when, asked, re.IGNORECASE):
            return answer.say
    return UNFORESEEN
