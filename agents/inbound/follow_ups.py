"""Brings up mail that nobody has answered: after three of the user's working days a thread that
awaits a reply is to be followed up. No model is asked.

Where an operator listed the state “Follow Up” beside “Awaiting Reply”, that is the thread's state
from then on, in any client; an answer, or another mail of the user's, turns it like Awaiting Reply.
"""

from collections.abc import Collection
from datetime import datetime, time, timedelta
from uuid import uuid5
from zoneinfo import ZoneInfo

from agents.context import people
from agents.inbound import thread_status
from agents.inbound.thread_status import NO_MAIL, Status
from agents.inbound.thread_turns import ThreadTurn
from agents.models import Turn
from guardrails.facts.threads import SENT
from guardrails.gather.policy_rows import policy_snapshot
from guardrails.policies.thread_states import ThreadStates, find_thread_states
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.contracts.preferences import DAYS, OFFICE_HOURS, Day
from knowledge.search import mails

AGENT = "follow_ups"
WORKING_DAYS = 3
LOOKED_AT = 500  # threads that await a reply, the oldest first


def remind(account: AccountRef, *, now: datetime) -> int:
    """Turn the threads that are due; how many. Raises ProviderError."""
    policy = policy_snapshot(account)
    states = find_thread_states(policy)
    if states is None or not states.follow_up or policy.stops_all(account.source):
        return 0
    user = people.load_person(
        organisation_id=account.organisation_id, external_user_id=account.external_user_id
    )
    hours = (user.preferences.working_hours if user else None) or OFFICE_HOURS
    zone = ZoneInfo(user.time_zone if user else account.time_zone)
    turned = 0
    for mail in mails.list_labelled(account.id, label=states.awaiting_reply, limit=LOOKED_AT):
        if not is_due(mail.occurred_at.astimezone(zone), now.astimezone(zone), days=hours.keys()):
            continue
        thread = mail_reader(account).thread(mail.thread_id) if mail.thread_id else ()
        if (status := find_reminder(thread, states)) is not None:
            today = datetime.combine(now.astimezone(zone).date(), time.min, zone)
            # Once a day, however often this runs.
            key = uuid5(account.id, f"{status.email_id} {today:%F}")
            turn = ThreadTurn(
                account=account,
                item_id=status.email_id,
                kind=Turn.Kind.REMINDER,
                key={"id": thread_status.derive_id(today, str(key))},
            )
            cause = thread_status.Cause(key, today, turn.use, turn.left)
            result = thread_status.change(
                *(cause, account, status),
                thread_id=mail.thread_id,
                called=mail.subject,
                agent=AGENT,
            )
            turn.store()
            turned += result.status == "succeeded"
    return turned


def is_due(sent: datetime, now: datetime, *, days: Collection[Day]) -> bool:
    """Whether so many working days came after the day of sending, today included. Both times are on
    the user's clock. Pure."""
    if not days or now.date() <= sent.date():
        return False
    passed = (now.date() - sent.date()).days
    weeks, rest = divmod(passed, 7)
    later = (sent.date() + timedelta(days=number) for number in range(1, rest + 1))
    working = weeks * len(days) + sum(DAYS[day.weekday()] in days for day in later)
    return working >= WORKING_DAYS


def find_reminder(thread: Collection[Email], states: ThreadStates) -> Status | None:
    """The state that says it, on the newest mail, if that is the user's and still awaits a reply.
    Pure."""
    written = [one for one in thread if NO_MAIL.isdisjoint(one.labels)]
    newest = max(written, key=lambda one: one.date, default=None)
    carried = {one for mail in written for one in states.labels & set(mail.labels)}
    if newest is None or carried != {states.awaiting_reply}:
        return None
    return Status(newest.id, states.follow_up) if SENT in newest.labels else None
