"""The life of the assistant's drafts after they were written (AUD-9).

A draft goes when the user answers, when its receiver writes again, or when a newer draft takes its
place; only if it is still, letter by letter, what Remit wrote. What a person edited or sent is
theirs. Each goes through the executor, so the ledger has it. A draft of a new mail answers nothing:
what others write leaves it alone, and so does a newer draft.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db.models import Count, QuerySet
from django.utils import timezone

from audit.ledger.ids import uuid7
from audit.ledger.selectors import recorded
from guardrails.contracts import ActionRequest, ActionResult, Origin
from guardrails.execute.executor import execute
from guardrails.facts import draft_text, targets
from guardrails.facts.threads import SENT
from guardrails.models import AssistantDraft
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.database import instances
from integrations.exceptions import Unavailable

AGENT = "drafts"
NO_MAIL = frozenset({"DRAFT", "TRASH", "SPAM"})
# A mail that has so much of a draft that is gone was made of it.
NEAR = 0.5
State = AssistantDraft.State
# How the guardrails say no to taking back a draft that is no longer Remit's to take.
ENDS = {"changed_since_done": State.EDITED, "changed_meanwhile": State.EDITED}
GONE = "object_unknown"
# Of every mail: as `_pending` composes it, it took several times as long.
_OF_THREAD = f"""
SELECT {instances.columns(AssistantDraft)} FROM guardrails_assistantdraft
WHERE account_id = %s AND thread_id = %s AND state = 'pending' AND draft_id <> ''
ORDER BY written_at
"""  # noqa: S608  # only constants


def tidy(
    account: AccountRef,
    email: Email,
    *,
    came_at: datetime,
    own_words: Callable[[Email], str],
    use_turn: Callable[[], str],
) -> None:
    """A mail came or was sent, and what was to be done about it is done: drafts of its thread that
    are of no use any more go. `own_words` gives what somebody wrote in a mail themselves, and
    `use_turn` the turn that takes a draft back. Raises ProviderError where the mailbox cannot be
    asked; then nothing is lost by asking again."""
    pending = list_drafts(account, email)
    if not pending:
        return
    thread = mail_reader(account).thread(email.thread_id)
    waits = False
    for row, answer in find_stale(pending, thread, email, came_at=came_at):
        result = _end(account, row, answer, own_words, use_turn)
        waits = waits or (result is not None and result.reason == "facts_unavailable")
    if waits:
        raise Unavailable("a draft could not be looked at")


def list_drafts(account: AccountRef, email: Email) -> list[AssistantDraft]:
    """Those of the mail's thread that wait for the user. One query."""
    if not email.thread_id:
        return []
    return instances.load(AssistantDraft, _OF_THREAD, [account.id, email.thread_id])


def tidy_superseded() -> None:
    """Takes back drafts that a newer one of the same thread has replaced, wherever that came from.
    Each is tried once here; later, when the next mail of the thread comes."""
    threads = (
        _answering()
        .values("account_id", "thread_id")
        .annotate(count=Count("id"))
        .filter(count__gt=1)
    )
    for thread in threads.order_by("account_id", "thread_id").exclude(thread_id=""):
        rows = _answering(thread["account_id"]).filter(thread_id=thread["thread_id"])
        rows = rows.select_related("account__organisation")
        newest_first = list(rows.order_by("-written_at"))
        for row in newest_first[1:]:
            if row.withdrawal_id is None:
                _end(row.account.ref(), row, None, str, partial(_turn_of, newest_first[0]))


def find_stale(
    rows: Sequence[AssistantDraft], thread: Sequence[Email], email: Email, *, came_at: datetime
) -> Iterator[tuple[AssistantDraft, Email | None]]:
    """Those of a thread's drafts, oldest first, that are of no use any more; with the mail that the
    user sent, where that is why. `email` was seen at `came_at`; other mails count by their dates.
    """
    present = [one for one in thread if NO_MAIL.isdisjoint(one.labels)]
    dates = {one.id: one.date for one in present}
    sent = sorted((one for one in present if SENT in one.labels), key=lambda one: one.date)
    at_hand = email if NO_MAIL.isdisjoint(email.labels) else None
    for row in rows:
        # What nobody asked for answers a mail; what somebody asked for may come after an answer.
        since = dates.get(row.reply_to_id) if row.of_own_accord else None
        later = [one for one in sent if one.date > (since or row.written_at)]
        is_later = at_hand is not None and row.written_at <= came_at
        if at_hand and is_later and SENT in at_hand.labels:
            later.append(at_hand)
        if not row.reply_to_id:
            later = [one for one in later if _is_sent_for(row, one)]
        answers = [one for one in later if one.message_id == row.message_id] or later
        writes_again = (
            at_hand is not None
            and is_later
            and at_hand.id != row.reply_to_id
            and at_hand.sender.lower() in row.receivers
        )
        is_replaced = writes_again or row is not rows[-1]
        if answers or (is_replaced and row.reply_to_id):
            yield row, answers[-1] if answers else None


def _is_sent_for(row: AssistantDraft, sent: Email) -> bool:
    """Whether the user sent this from the draft of a new mail, or instead of it. Its provider may
    have put the draft into the thread of other mail with the same subject."""
    reached = {one.lower() for one in targets.plain_addresses((*sent.to, *sent.cc, *sent.bcc))}
    is_same = bool(row.message_id) and sent.message_id == row.message_id
    return is_same or not reached.isdisjoint(row.receivers)


def _pending(account_id: UUID | None = None) -> QuerySet[AssistantDraft]:
    rows = AssistantDraft.objects.filter(state=State.PENDING).exclude(draft_id="")
    return rows.filter(account_id=account_id) if account_id else rows


def _answering(account_id: UUID | None = None) -> QuerySet[AssistantDraft]:
    """Those that answer a mail."""
    return _pending(account_id).exclude(reply_to_id="")


def _end(
    account: AccountRef,
    row: AssistantDraft,
    answer: Email | None,
    own_words: Callable[[Email], str],
    use_turn: Callable[[], str],
) -> ActionResult | None:
    """What becomes of one draft, asked of the provider. None: it was sent as it was."""
    if answer is not None:
        row.answer_id = answer.id
        text = _text(row)
        row.nearness = None if text is None else draft_text.nearness(text, own_words(answer))
        if row.message_id and answer.message_id == row.message_id:
            _close(row, State.SENT)
            return None
    result = execute(_request(account, row, turn_id=use_turn()))
    if result.status in ("succeeded", "noop"):
        _close(row, State.SUPERSEDED)
    elif result.reason in ENDS:
        _close(row, ENDS[result.reason])
    elif result.reason == GONE:
        _close(row, State.SENT if (row.nearness or 0) >= NEAR else State.MISSING)
    elif result.status != "unknown":
        # It came to nothing: the next try is another action.
        _pending(account.id).filter(pk=row.pk, withdrawal_id=row.withdrawal_id).update(
            withdrawal_id=uuid7()
        )
    return result


def _request(account: AccountRef, row: AssistantDraft, *, turn_id: str) -> ActionRequest:
    """The same action however often it is tried, and by however many at once."""
    if row.withdrawal_id is None:
        _pending(account.id).filter(pk=row.pk, withdrawal_id=None).update(withdrawal_id=uuid7())
        row.refresh_from_db(fields=["withdrawal_id"])
    if row.withdrawal_id is None:
        raise ValueError("a draft that has ended is not taken back")
    return ActionRequest(
        action_id=row.withdrawal_id,
        account=account,
        action_type="withdraw_draft",
        arguments={"draft_id": row.draft_id, "digest": row.digest},
        origin=Origin(
            trigger="webhook",
            turn_id=turn_id,
            agent=AGENT,
            actor="webhook",
            thread_id=row.thread_id,
            undoes=str(row.action_id),
            expects_revision=row.revision or None,
        ),
    )


def _close(row: AssistantDraft, state: AssistantDraft.State) -> None:
    AssistantDraft.objects.filter(pk=row.pk, state=State.PENDING).update(
        state=state,
        answer_id=row.answer_id,
        nearness=row.nearness,
        ended_at=timezone.now(),
    )


def _turn_of(row: AssistantDraft) -> str:
    """The turn that wrote the draft."""
    return next((phase.run_id for phase in recorded(row.action_id)), "")


def _text(row: AssistantDraft) -> str | None:
    """What Remit wrote, as the ledger has it; None where that was erased."""
    for phase in reversed(recorded(row.action_id)):
        body = phase.payload.get("arguments", {}).get("body")
        if isinstance(body, str):
            return body
    return None
