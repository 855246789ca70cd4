"""One word on one approval, given by a thread or by a process of its own.

`python -m tests.racing` reads a word a line and answers with what became of it:

    {"word": "confirm", "approval": "…", "organisation": "…", "user": "maya"}  ->  "succeeded"
"""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.program import Program, running_program

Command = dict[str, Any]


def give(command: Command) -> str:
    """Confirm, reject, edit, delegate, escalate or expire; the result's status, or why there
    is none. What a person changed is spoken about as it is now, where `newest` says so."""
    from uuid import UUID

    from django.utils import timezone

    from guardrails.approve import approval_rows, approvals, delegation
    from guardrails.models import Approval

    approval_id = UUID(command["approval"])
    if command.get("newest"):
        while found := Approval.objects.filter(revises_id=approval_id).first():
            approval_id = found.id
    given: dict[str, Any] = {
        "organisation_id": UUID(command["organisation"]),
        "approval_id": approval_id,
        "external_user_id": command["user"],
    }
    by = f"token:{command['user']}" if command["user"] else "operator:olga"
    try:
        match command["word"]:
            case "confirm":
                return approvals.confirm(**given, decided_by=by).status
            case "reject":
                return approvals.reject(**given, decided_by=by).reason
            case "edit":
                changes = {"summary": command["summary"]}
                return approvals.edit(**given, decided_by=by, changes=changes).status
            case "delegate":
                return delegation.delegate(**given, to=command["to"], by=by).delegated_to
            case "escalate":
                return str(bool(delegation.escalate(**given, by=by).escalated_at))
            case _:
                waiting = Approval.objects.filter(id=approval_id, state="pending")
                waiting.update(expires_at=timezone.now())
                return str(approval_rows.expire(approval_id))
    except (approvals.ApprovalConflict, approvals.ApprovalNotFound) as answer:
        return type(answer).__name__


def main() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        print(json.dumps(give(json.loads(line))), flush=True)


@dataclass(frozen=True, kw_only=True)
class Racer:
    """A process that gives words."""

    program: Program

    def give(self, command: Command) -> str:
        return str(self.program.ask(command))


@contextmanager
def racer(environment: Mapping[str, str]) -> Iterator[Racer]:
    with running_program("tests.racing", environment) as program:
        yield Racer(program=program)


if __name__ == "__main__":
    main()
