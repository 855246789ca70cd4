"""Writes that are done once, although the tracker keeps no keys: each is a row, committed before
its request leaves, and after a lost answer the tracker is looked at. What was once said to be not
sent is never sent later: one of the two wins the row."""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef, Issue
from integrations.exceptions import Changed, ProviderError, Rejected, Unavailable
from integrations.models import IssueWrite
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed

Answer = dict[str, Any]
Find = Callable[[IssueWrite], Evidence]
State = IssueWrite.State
# Trackers list what was written a moment ago late, and a slow one may still do what it was sent.
LATE = timedelta(minutes=2)
# How far the tracker's clock may be off: what was written under a wrong clock, or in a wrong zone,
# would be said to be missing.
SKEW = timedelta(days=1)
KEY = re.compile(r"[A-Za-z0-9-]{1,200}")
NOTHING_SENT = "Remit had sent nothing to the tracker under this key."


def start(
    account: AccountRef, key: str, operation: str, *, project: str, issue_key: str = ""
) -> IssueWrite:
    """The row of this write, new or from an earlier try. Raises Rejected for a key that cannot be
    a mark."""
    if not KEY.fullmatch(key):
        raise Rejected("the key is no name")
    about = {"operation": operation, "project": project, "issue_key": issue_key}
    row, _ = IssueWrite.objects.get_or_create(account_id=account.id, key=key, defaults=about)
    return row


def once(row: IssueWrite, perform: Callable[[], Answer], *, find: Find) -> Answer:
    """What `perform` answers, or answered before. Raises ProviderError; Unavailable where an
    earlier try may have done it."""
    if row.state == State.SENT:
        found = find(row)
        if isinstance(found, Performed):
            return _done(row, found.response)
        raise Unavailable("an earlier try may have done it")
    if not _move(row, State.STARTED, State.SENT):
        raise Rejected("nothing is sent under this key any more")
    try:
        answer = perform()
    except ProviderError as error:
        if not error.outcome_unknown:
            _move(row, State.SENT, State.STARTED)
        raise
    return _done(row, answer)


def prepare_change(
    row: IssueWrite, issue: Issue, changes: Mapping[str, Any], *, revision: str | None
) -> None:
    """Keeps what the issue was and is to be. Raises Changed where it is not what was decided on.
    The tracker itself does not hold the write to it: a moment is left between look and write."""
    if revision is not None and issue.revision != revision:
        raise Changed("it has another version by now")
    row.revision_before = issue.revision
    row.wanted = {name: digest(value) for name, value in changes.items()}
    row.save(update_fields=["revision_before", "wanted", "changed_at"])


def judge_change(row: IssueWrite, issue: Issue) -> Evidence:
    """What became of a change, by what the issue is now."""
    present = issue.model_dump(mode="json")
    if all(digest(present.get(name)) == value for name, value in row.wanted.items()):
        answer = {"id": issue.id, "key": issue.key, "revision": issue.revision}
        return Performed(response=answer, at=row.changed_at)
    if issue.revision == row.revision_before:
        return NotPerformed(proof="The issue is as it was before.")
    # Done in part, or somebody else has changed it since.
    return CannotTell(ask_again_at=None)


def find_evidence(account: AccountRef, key: str, find: Find) -> Evidence:
    """Raises ProviderError where the tracker has to be asked and is away."""
    row = IssueWrite.objects.filter(account_id=account.id, key=key).first()
    if row is None:
        return NotPerformed(proof=NOTHING_SENT)
    if row.state != State.DONE and _move(row, State.STARTED, State.GIVEN_UP):
        return NotPerformed(proof=NOTHING_SENT)
    row.refresh_from_db()
    if row.state == State.GIVEN_UP:
        return NotPerformed(proof=NOTHING_SENT)
    if row.state == State.DONE:
        return Performed(response=row.answer, at=row.changed_at)
    found, late = find(row), row.changed_at + LATE
    if isinstance(found, NotPerformed) and timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return found


def digest(value: Any) -> str:
    """The same for values that say the same: lists in any order, lines however they end."""
    if isinstance(value, (list, tuple)):
        value = sorted(str(one).casefold() for one in value)
    if isinstance(value, str):
        value = value.replace("\r\n", "\n").strip()
    return hashlib.sha256(json.dumps(value or None).encode()).hexdigest()


def _done(row: IssueWrite, answer: Answer) -> Answer:
    row.answer, row.state = answer, State.DONE
    row.save(update_fields=["answer", "state", "changed_at"])
    return answer


def _move(row: IssueWrite, before: State, after: State) -> bool:
    """Whether the row was there and is now here: true for one of two processes."""
    now = timezone.now()
    rows = IssueWrite.objects.filter(pk=row.pk, state=before)
    moved = rows.update(state=after, changed_at=now) == 1
    if moved:
        row.state, row.changed_at = after, now
    return moved
