"""Chat turns: run, answer. A turn's state is rows, so any process can go on with it."""

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from agents.answer import closing, links, records, review
from agents.context import (
    conversation_summary,
    custom_agents,
    people,
    prompts,
    truncation,
)
from agents.context.messages import Wire
from agents.context.prompts import LIMIT_SENTENCES
from agents.contracts import CallRecord, StepRecord, TurnRecord
from agents.journal import history, journal, leases
from agents.journal.leases import Lease, LeaseLost
from agents.journal.statements import to_storable
from agents.journal.steps import ASK_USER, Escalated, Question, Reply, Stop
from agents.models import Turn
from agents.plans import rendering, store
from agents.tools import acting
from agents.tools.base import ToolContext
from agents.turns import loop, reviewed, roster, specialists, spoken
from guardrails.approve import approvals
from integrations.llm.completions import ModelError
from integrations.llm.deadline import Deadline
from integrations.llm.llm import BudgetExhausted

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 5
WORDS: Mapping[str, approvals.Word] = {
    "confirmed": "confirm",
    "rejected": "reject",
    "edited": "edit",
}

ERROR_SENTENCE = (
    "I could not finish this because the model did not answer. Nothing more was done. "
    "Please try again."
)
BROKEN_SENTENCE = (
    "I could not finish this because something broke on our side; it is in the log. What was done "
    "before stays, and nothing more was done."
)
NO_ACCOUNT_SENTENCE = "I can do nothing here: no account of yours is connected any more."
REFUSED_SENTENCE = (
    "I could not finish this because the model's endpoint refuses what it is asked. Nothing more "
    "was done. To try again does not help: an operator has to look at the settings of the model."
)


def run_turn(turn_id: UUID, *, stream: bool = False) -> bool:
    """Work through one chat turn until it is finished. False when it is finished
    already, or another process works on it."""
    lease = leases.claim(turn_id)
    return lease is not None and work(lease, stream=stream)


def work(lease: Lease, *, stream: bool) -> bool:
    """Work through a claimed chat turn until it is finished. False when another process has
    taken it over meanwhile."""
    turn = Turn.objects.get(id=lease.turn_id)
    try:
        if turn.attempts > MAX_ATTEMPTS:
            _fail(lease, turn, "too_many_attempts", BROKEN_SENTENCE)
        else:
            with leases.HEARTBEAT.keep(lease):
                _work(lease, turn, stream=stream)
    except LeaseLost:
        log.warning("turn.lease_lost", extra={"turn": str(turn.id)})
        return False
    except BudgetExhausted as error:
        said = records.say(error.sentence, language=turn.language)
        finish_turn(lease, text=said, ending=Turn.Ending.LIMIT, code=error.code)
    except ModelError as error:
        log.warning("turn.model_failed", extra={"turn": str(turn.id), "code": error.code})
        _fail(lease, turn, error.code, REFUSED_SENTENCE if error.is_refusal else ERROR_SENTENCE)
    return True


def _fail(lease: Lease, turn: Turn, code: str, sentence: str) -> None:
    said = records.say(sentence, language=turn.language)
    finish_turn(lease, text=said, ending=Turn.Ending.ERROR, code=code)


def _work(lease: Lease, turn: Turn, *, stream: bool) -> None:
    person = people.load_person(
        organisation_id=turn.organisation_id, external_user_id=turn.external_user_id
    )
    if person is None:
        _fail(lease, turn, "unknown_user", NO_ACCOUNT_SENTENCE)
        return
    deadline = Deadline.after(settings.TURN_MAX_SECONDS)
    heard = spoken.hear(turn)
    if heard is not None and not heard.confirmed:
        said = spoken.point_at_buttons(turn, person, heard.waiting)
        finish_turn(lease, text=said, ending=Turn.Ending.REPLY)
        return
    if heard is not None:
        turn.decisions = spoken.to_decisions(turn, heard)
    _decide(lease, turn)
    loaded, own_steps = history.load_history(turn)
    words = history.load_user_words(turn, zone=person.time_zone)
    capabilities = people.list_capabilities(person)
    skills = people.list_skills(person)
    system = prompts.render_system(prompts.ORCHESTRATOR, person=person, skills=skills)
    waiting = people.list_waiting(person)
    offered = custom_agents.list_offered(person).order_by("name")
    agents = list(offered.values_list("name", "description"))
    present = loaded[-1]
    earlier = [step for record in loaded[:-1] for step in record.steps]
    past = conversation_summary.load_past(
        lease,
        turn.conversation_id,
        loaded[:-1],
        payer=person.payer(turn.id),
        limits=roster.ORCHESTRATOR.limits(),
        deadline=deadline,
        continues=present.user_text is None,
    )

    def messages(steps: Sequence[StepRecord], room: int) -> Sequence[Wire]:
        now = TurnRecord(
            user_text=present.user_text,
            decisions=present.decisions,
            steps=tuple(steps),
            reply=None,
        )
        reviewed = review.review_midway(
            lease, request=words.request, steps=steps, earlier=earlier, deadline=deadline
        )
        plan = store.load_plan(turn.conversation_id)
        last = rendering.render_state(
            now=prompts.render_now(person, timezone.now()),
            waiting=waiting,
            plan=plan,
            review=reviewed,
            agents=agents,
        )
        built = past.messages(system, now, max_tokens=room - truncation.count_tokens(last))
        return (*built, *last)

    clean = links.Cleaner(lambda: closing.list_trusted(turn, words.text))
    delegate = specialists.delegate_for(lease, person, turn, words, deadline=deadline)
    run = loop.Run(
        lease=lease,
        agent=roster.ORCHESTRATOR.name,
        parent_call=None,
        tools=roster.ORCHESTRATOR.offer(
            person, capabilities=capabilities, skills=bool(skills), agents=bool(agents)
        ),
        limits=roster.ORCHESTRATOR.limits(),
        messages=messages,
        context_for=lambda call: ToolContext(
            lease=lease,
            person=person,
            agent=roster.ORCHESTRATOR.name,
            agent_version=roster.ORCHESTRATOR.version,
            model=settings.CHAT_MODEL,
            trigger="chat",
            principal=turn.principal,
            user_words=words.text,
            said_at=words.said_at,
            mail=None,
            pattern_id="",
            call=call,
            delegate=delegate,
            deadline=deadline,
            capabilities=capabilities,
        ),
        language=turn.language,
        stream=stream,
        clean=clean,
        steps=own_steps,
        payer=person.payer(turn.id),
        deadline=deadline,
    )
    match reviewed.run_reviewed(run, request=words.request, earlier=earlier):
        case Reply(text=text):
            answer = closing.close_answer(lease.turn_id, clean(text), steps=[*earlier, *run.steps])
            finish_turn(lease, text=answer.text, ending=Turn.Ending.REPLY, metadata=answer.metadata)
        case Escalated(text=text):
            handed = records.say(prompts.ESCALATED_SENTENCE, language=turn.language)
            said = f"{clean(text)}\n\n{handed}".lstrip()
            answer = closing.close_answer(lease.turn_id, said, steps=[*earlier, *run.steps])
            finish_turn(
                lease, text=answer.text, ending=Turn.Ending.ESCALATED, metadata=answer.metadata
            )
        case Question(call=call, text=text):
            finish_turn(lease, text=clean(text or _question(call)), ending=Turn.Ending.QUESTION)
        case Stop(limit=limit):
            stopped = limit == "stopped"
            finish_turn(
                lease,
                text=records.say(LIMIT_SENTENCES[limit], language=turn.language),
                ending=Turn.Ending.STOPPED if stopped else Turn.Ending.LIMIT,
            )


def _decide(lease: Lease, turn: Turn) -> None:
    """Carry out the user's decisions about pending actions, each once."""
    for index, decision in enumerate(turn.decisions):
        if "status" in decision:
            continue
        result = approvals.decide(
            organisation_id=turn.organisation_id,
            external_user_id=turn.external_user_id,
            approval_id=UUID(decision["id"]),
            word=WORDS[decision["decision"]],
            changes=decision.get("params"),
            resumed=turn.attempts > 1,
            digest=decision.get("digest"),
            decided_by=turn.principal,
            reason=decision.get("reason", ""),
            said_in=decision.get("said_in", ""),
        )
        # A changed action is another one: it waits under an id of its own.
        edited = decision["decision"] == "edited" and result.status == "pending"
        action = acting.describe_result(result) | ({} if edited else {"id": decision["id"]})
        late = {"late": True, "handled": result.handled} if result.late else {}
        turn.decisions[index] = decision | acting.describe_action(action) | late
        with lease.held():
            Turn.objects.filter(id=turn.id).update(decisions=to_storable(turn.decisions))
        journal.add_action(lease, action)


def _question(call: CallRecord) -> str:
    return str(parse_question(call.arguments).get("question", ""))


def parse_question(arguments: str) -> dict[str, Any]:
    """An open question as the API shows it. Its arguments were validated before it was asked."""
    asked = roster.ORCHESTRATOR.toolbox[ASK_USER].arguments.model_validate_json(arguments)
    return dict(asked.model_dump())


def finish_turn(
    lease: Lease,
    *,
    text: str,
    ending: Turn.Ending,
    code: str = "",
    metadata: Mapping[str, Any] | None = None,
) -> None:
    """Store the one assistant message and end the turn. Raises LeaseLost."""
    failed = ending == Turn.Ending.ERROR
    journal.finish_turn(
        lease,
        state=Turn.State.FAILED if failed else Turn.State.FINISHED,
        ending=ending,
        code=code,
        text=text,
        metadata=metadata or {},
    )
    log.info("turn.finished", extra={"turn": str(lease.turn_id), "ending": str(ending)})


def stop_turn(turn_id: UUID, *, by: str, now: datetime) -> bool:
    """Have the turn end. False when it had ended already.

    The process that works on it finds its lease gone, or, with calls under way, the wish in its
    row as soon as these have their results.
    """
    with transaction.atomic():
        turn = Turn.objects.select_for_update().filter(id=turn_id).first()
        if turn is None or turn.state not in (Turn.State.QUEUED, Turn.State.RUNNING):
            return False
        if not turn.stop_asked_at:
            turn.stop_asked_by, turn.stop_asked_at = by[:200], now
            turn.save(update_fields=["stop_asked_by", "stop_asked_at"])
        if turn.kind == Turn.Kind.CHAT and not leases.may_be_acting(turn):
            lease = Lease(turn_id=turn.id, owner=uuid4())
            Turn.objects.filter(id=turn.id).update(
                state=Turn.State.RUNNING,
                lease_owner=lease.owner,
                lease_expires_at=leases.lease_end(),
            )
            said = records.say(LIMIT_SENTENCES["stopped"], language=turn.language)
            finish_turn(lease, text=said, ending=Turn.Ending.STOPPED)
    log.info("turn.stop_asked", extra={"turn": str(turn_id)})
    return True
