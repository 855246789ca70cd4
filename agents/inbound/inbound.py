"""The turn of one inbound mail: a learned pattern that fits, or the mail reader."""

import logging
from collections.abc import Callable, Collection, Sequence
from email.utils import parseaddr
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from agents.context import busy, people, prompts
from agents.context.messages import build_run_messages
from agents.contracts import CallRecord, InboundMail, Past, Person
from agents.inbound import reading
from agents.inbound.endings import End
from agents.inbound.known import Known, build_payer, prepare_known
from agents.journal import journal, leases
from agents.journal.leases import Lease, LeaseLost
from agents.journal.steps import Ending, Question, Reply, Stop
from agents.learn import earlier, matching
from agents.models import Turn
from agents.tools.base import ToolContext
from agents.turns import loop, roster
from agents.turns.turns import MAX_ATTEMPTS, finish_turn
from guardrails.contracts import Capability
from guardrails.contracts.learning import PatternMatch
from guardrails.decide.snapshot import PolicySnapshot
from guardrails.facts.threads import SENT
from guardrails.gather import strangers
from guardrails.gather.policy_rows import read_policy
from guardrails.learn import patterns as learned, precision
from integrations.accounts.reads import mail_reader
from integrations.contracts import AccountRef, Email
from integrations.contracts.preferences import Preferences
from integrations.database.together import run_together
from integrations.exceptions import ProviderError
from integrations.llm.completions import ModelError, OutOfTime
from integrations.llm.deadline import Deadline
from knowledge.contracts import StoredMail

log = logging.getLogger(__name__)
EARLIER_MAILS = 3  # of the thread before it
OWN_LABELS = frozenset({"SENT", "DRAFT"})


def is_own(account: AccountRef, email: Email) -> bool:
    """Whether the user wrote it, so that nobody needs to look at it."""
    by_user = email.sender.casefold() == account.address.casefold()
    return by_user or not OWN_LABELS.isdisjoint(email.labels)


def is_from_remit(email: Email) -> bool:
    """Whether Remit sent it, such as a card or the mail about a day: no agent has to look at it,
    and a stranger's words in it would come back as mail. What only says so is mail like any."""
    own = parseaddr(settings.DEFAULT_FROM_EMAIL)[1].casefold()
    return email.authentication.dmarc == "pass" and email.sender.casefold() == own


def run(
    end: End,
    *,
    email: Email,
    policy: PolicySnapshot,
    known: Known | None = None,
    deadline: Deadline | None = None,
    past: Past | None = None,
) -> str | None:
    """Work through the turn until its `end` is stored: "", or the error code that it ended with
    instead. None where another process has taken it over. `policy` is the account's as it was read
    just now, and `known` was read with it, or is read; `past`: the mail was there before.

    Raises a ModelError or ProviderError that may pass: then the turn can be taken up again.
    """
    until = deadline or Deadline.after(settings.TURN_MAX_SECONDS)

    def work() -> None:
        found = known or prepare_known(end.account, email)
        if not found.person.has_run:
            run_together(*found.reads)
        vouched = found.vouched.found
        mail = build_context(end.account, email, policy=policy, vouched=vouched)
        _work(end, mail, found, policy, until.within(settings.TURN_MAX_SECONDS), past)

    return attempt(end.lease, work)


def attempt(lease: Lease, work: Callable[[], None]) -> str | None:
    """Work under the lease until the turn is finished; as `run`."""
    if lease.attempts > MAX_ATTEMPTS:
        return _fail(lease, "too_many_attempts")
    try:
        with leases.HEARTBEAT.keep(lease):
            work()
    except LeaseLost:
        log.warning("turn.lease_lost", extra={"turn": str(lease.turn_id)})
        return None
    except (ModelError, ProviderError) as error:
        if may_pass(error):
            leases.release(lease)
            raise
        return _fail(lease, error.code)
    return ""


def _fail(lease: Lease, code: str) -> str:
    finish_turn(lease, text="", ending=Turn.Ending.ERROR, code=code)
    return code


def may_pass(error: ModelError | ProviderError) -> bool:
    """Whether the same work may succeed later."""
    return error.may_pass if isinstance(error, ModelError) else error.retryable


def give_up(delivery_ids: Collection[UUID], code: str) -> None:
    """End the turns of these deliveries, which nobody works on any more."""
    waiting = Turn.objects.filter(delivery_id__in=delivery_ids, state=Turn.State.QUEUED)
    for turn_id in waiting.values_list("id", flat=True):
        if lease := leases.claim(turn_id):
            _fail(lease, code)


def build_context(
    account: AccountRef,
    email: Email,
    *,
    policy: PolicySnapshot | None = None,
    vouched: frozenset[str] | None = None,
) -> InboundMail:
    """What the mail reader is shown. Doubt about first contact means known. `policy`, `vouched`:
    as `strangers.is_stranger`."""
    provider = mail_reader(account)
    try:
        first_contact = strangers.is_stranger(
            account, provider, email.sender, policy=policy, vouched=vouched
        )
        thread = provider.thread(email.thread_id) if email.thread_id else (email,)
    except ProviderError as error:
        if error.retryable:
            raise
        first_contact, thread = False, (email,)
    earlier = sorted((one for one in thread if one.date < email.date), key=lambda one: one.date)
    return InboundMail(
        account=account,
        email_id=email.id,
        thread_id=email.thread_id,
        sender=email.sender,
        sender_name=email.sender_name,
        to=email.to,
        cc=email.cc,
        subject=email.subject,
        text=reading.fit(reading.render_text(email), max_tokens=reading.MAIL_TOKENS),
        list_id=email.list_id or "",
        first_contact=first_contact,
        authenticated=email.authentication.dmarc == "pass",
        date=email.date.isoformat(),
        thread_messages=len(thread),
        earlier=tuple(
            {
                "from": one.sender,
                "date": one.date.isoformat(),
                "text": reading.fit(reading.render_text(one), max_tokens=reading.EARLIER_TOKENS),
            }
            for one in earlier[-EARLIER_MAILS:]
        ),
        is_answered=any(one.date > email.date and SENT in one.labels for one in thread),
    )


def _work(
    end: End,
    mail: InboundMail,
    known: Known,
    policy: PolicySnapshot,
    deadline: Deadline,
    past: Past | None,
) -> None:
    lease, account = end.lease, end.account
    steps = (
        [] if lease.is_new else journal.load_steps([lease.turn_id]).get((lease.turn_id, None), [])
    )
    begun_by_model = bool(steps) and steps[0].finish_reason != "pattern"
    user, before = known.person.found, known.before
    # Acted upon is the mailbox alone; the calendar is another account.
    person = Person(
        organisation_id=account.organisation_id,
        external_user_id=account.external_user_id,
        accounts=(account,),
        preferences=user.preferences if user else Preferences(),
    )
    found = None if begun_by_model else matching.match(known.patterns.found, mail)
    if found:  # somebody may have taken it back while the mailbox was asked
        found = matching.match(learned.read_approved(account, now=timezone.now()).run(), mail)
    offered = () if found else known.skills.found
    system = (
        "" if found else prompts.render_system(prompts.MAIL_READER, person=person, skills=offered)
    )
    permitted = () if found else people.list_capabilities(person, {account.id: policy})
    withheld = frozenset() if found else roster.find_withheld(past, mail)
    capabilities = [one for one in permitted if one.action_type not in withheld]
    lay = before.found if before else ()
    request = "" if found else _request(person, mail, user or person, capabilities, lay)
    tools = roster.MAIL_READER.offer(
        person, capabilities=capabilities, skills=bool(offered), agents=False
    )
    run = loop.Run(
        lease=lease,
        agent=f"pattern:{found.pattern_id}" if found else roster.MAIL_READER.name,
        parent_call=None,
        tools={name: tool for name, tool in tools.items() if name not in withheld},
        limits=roster.MAIL_READER.limits(),
        messages=lambda steps, room: build_run_messages(
            system=system, request=request, steps=steps, max_tokens=room
        ),
        context_for=lambda call: ToolContext(
            lease=lease,
            person=person,
            agent="pattern" if found else roster.MAIL_READER.name,
            agent_version="" if found else roster.MAIL_READER.version,
            model="" if found else settings.CHAT_MODEL,
            trigger="pattern" if found else "webhook",
            principal="webhook",
            user_words="",
            mail=mail,
            pattern_id=str(found.pattern_id) if found else "",
            call=call,
            delegate=no_specialist,
            deadline=deadline,
            capabilities=capabilities,
            left=end.left,
            trial=past.trial if past else None,
            draft=past.draft if past else None,
        ),
        steps=steps,
        payer=build_payer(account, lease.turn_id),
        budgets=known.budgets.found,
        read_policy=lambda: read_policy(account),
        deadline=deadline,
        around_reply=lambda: end.committing(Turn.Ending.REPLY),
    )
    if found:
        act_on_pattern(run, found, mail, counts=past is None or past.trial is None)
        end.store(Turn.Ending.PATTERN)
        return
    at_first = len(steps)
    match loop.run_agent(run):
        case Reply():
            end.store(Turn.Ending.REPLY)
        case Question():
            end.store(Turn.Ending.QUESTION)
        case Stop(limit="seconds") if len(run.steps) == at_first:
            raise OutOfTime  # the model said nothing in all this time
        case Stop():
            end.store(Turn.Ending.LIMIT)


def _request(
    person: Person,
    mail: InboundMail,
    calendars: Person,
    capabilities: Sequence[Capability],
    before: Sequence[StoredMail],
) -> str:
    """What the mail reader is asked: the mail, the time, when the user's is taken, and how earlier
    mail of the sender lies."""
    now = timezone.now()
    taken = "" if mail.list_id else busy.render(calendars, f"{mail.subject}\n{mail.text}", now)
    lines = [prompts.render_now(person, now), taken]
    lay = earlier.describe(
        before,
        but=mail.email_id,
        subject=mail.subject,
        names=people.name_targets(capabilities),
    )
    lines.append(prompts.render_item(mail, zone=person.time_zone, earlier=lay))
    return "\n".join(filter(None, lines))


def act_on_pattern(
    run: loop.Run, found: PatternMatch, mail: InboundMail, *, counts: bool = True
) -> None:
    """Do what the pattern proposes, without a model, through the same guardrails. Unless it
    `counts` as a hit, it was only tried."""
    if not run.steps:
        run.steps.append(loop.add_step(run, matching.to_completion(found)))
        if counts:
            precision.count_hit(
                found.pattern_id,
                account=mail.account,
                item_id=mail.email_id,
                subject=mail.subject,
                turn_id=str(run.lease.turn_id),
                now=timezone.now(),
            )
    loop.finish_open_calls(run)


def no_specialist(name: str, task: str, blocks: Sequence[str], call: CallRecord) -> Ending:
    raise RuntimeError("an inbound turn has no specialists")
