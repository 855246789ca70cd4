"""How far a write to a mailbox came, step by step. Each step is one conditional update: of a
process that goes on and one that calls the write off, exactly one gets its way."""

from typing import Any

from django.utils import timezone

from integrations.exceptions import Unavailable
from integrations.models import MailWrite

STARTED, SUBMITTING = MailWrite.State.STARTED, MailWrite.State.SUBMITTING
DONE, GIVEN_UP = MailWrite.State.DONE, MailWrite.State.GIVEN_UP
# What may have reached others. A row that was called off before it began has no operation.
SENDING = ("", "send_email", "forward_email")


class NotSent(Unavailable):
    """The server could not be reached or went away before it had the mail: nothing was sent."""

    outcome_unknown = False


def begin(account_id: Any, key: str, operation: str, **about: Any) -> MailWrite:
    """The row of this key. One that was called off before it began begins now: for what may be
    done twice that does no harm, and sending asks for more (`submit`)."""
    row, _ = MailWrite.objects.get_or_create(
        account_id=account_id, key=key, defaults={"operation": operation, **about}
    )
    if not row.operation:
        row.operation = operation
        for name, value in about.items():
            setattr(row, name, value)
        row.save(update_fields=["operation", *about, "changed_at"])
    return row


def call_off(account_id: Any, key: str) -> bool:
    """Nobody sends under this key any more, unless the last word of the mail is under way
    already: then False. True also where nothing had begun."""
    row, new = MailWrite.objects.get_or_create(
        account_id=account_id, key=key, defaults={"state": GIVEN_UP}
    )
    return new or row.state == GIVEN_UP or _moved(row, STARTED, GIVEN_UP)


def check(row: MailWrite) -> None:
    """Raises NotSent for a mail that was called off, and Unavailable for one whose last word
    another process has under way, or had."""
    if row.state == GIVEN_UP:
        raise NotSent("the mail was called off before its last word")
    if row.state != STARTED:
        raise Unavailable("nobody can tell whether this mail went out")


def submit(row: MailWrite) -> None:
    """From here on nobody can tell whether the mail went out. Raises what `check` raises."""
    if not _moved(row, STARTED, SUBMITTING):
        row.refresh_from_db(fields=["state"])
        check(row)


def step_back(row: MailWrite) -> None:
    """The last word has not left after all: for the process whose `submit` it was."""
    _moved(row, SUBMITTING, STARTED)


def aim(row: MailWrite, target: dict[str, Any]) -> None:
    """Keep what the next request is made for. Raises what `check` raises where the mail was called
    off meanwhile."""
    found = MailWrite.objects.filter(pk=row.pk, state=row.state)
    if not found.update(target=target, changed_at=timezone.now()):
        row.refresh_from_db(fields=["state"])
        check(row)
    row.target = target


def refuse(row: MailWrite) -> bool:
    """The server said no to the whole mail, as it was aimed last; False where it is aimed anew by
    now."""
    return _moved(row, SUBMITTING, GIVEN_UP, target=row.target)


def finish(row: MailWrite, answer: dict[str, Any]) -> None:
    row.state, row.answer = DONE, answer
    row.save(update_fields=["state", "answer", "changed_at"])


def _moved(row: MailWrite, before: str, after: str, **still: Any) -> bool:
    found = MailWrite.objects.filter(pk=row.pk, state=before, **still)
    if not found.update(state=after, changed_at=timezone.now()):
        return False
    row.state = after
    return True
