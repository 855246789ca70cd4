"""Chat turns: start, run, answer. A turn's state is rows, so any process can go on with it."""

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from agents import (
    answering,
    closing,
    history,
    journal,
    loop,
    people,
    planning,
    prompts,
    reviewing,
    roster,
    specialists,
    state,
    truncation,
)
from agents.contracts import CallRecord, StepRecord, TurnRecord
from agents.journal import Lease, LeaseLost
from agents.models import Conversation, Message, ToolCall, Turn
from agents.steps import ASK_USER, Escalated, Question, Reply, Stop
from agents.tools import acting
from agents.tools.base import ToolContext
from guardrails import approvals
from integrations.completions import ModelError
from integrations.llm import BudgetExhausted
from integrations.webhooks import QUEUE_PATIENCE

log = logging.getLogger(__name__)
MAX_ATTEMPTS = 5
TAKEN_BACK = 500  # a sweep
WORDS: Mapping[str, approvals.Word] = {
    "confirmed": "confirm",
    "rejected": "reject",
    "edited": "edit",
}
# What the model is told of a decision: what ran, and what it had proposed instead.
TOLD = ("type", "description", "params", "proposed", "status", "result", "sentence")

ERROR_SENTENCE = (
    "I could not finish this because the model did not answer. Nothing more was done. "
    "Please try again."
)


class TurnRunning(Exception):
    """The conversation's last message is still being worked on."""


class UnknownConversation(Exception):
    """No such conversation for this user (another user's is as unknown as none)."""


class UnknownUser(Exception):
    """The organisation has no account of this user."""


def start_turn(
    *,
    organisation_id: UUID,
    external_user_id: str,
    conversation_id: UUID | None,
    message: str,
    decisions: Sequence[Mapping[str, Any]],
    principal: str,
) -> UUID:
    """Store the message and its turn, ready to be run. Nothing else happens here.

    An open question of the conversation is answered by this message. Raises UnknownUser,
    UnknownConversation or TurnRunning; then nothing is stored.
    """
    if people.person(organisation_id=organisation_id, external_user_id=external_user_id) is None:
        raise UnknownUser
    try:
        with transaction.atomic():
            conversation = _conversation(
                organisation_id, external_user_id, conversation_id, message
            )
            question = _open_question(conversation)
            turn = Turn.objects.create(
                organisation_id=organisation_id,
                external_user_id=external_user_id,
                kind=Turn.Kind.CHAT,
                conversation=conversation,
                principal=principal,
                lease_expires_at=journal.lease_end(),
                decisions=[dict(decision) for decision in decisions],
            )
            answers = question is not None and bool(message)
            Message.objects.create(
                conversation=conversation,
                turn=turn,
                role=Message.Role.USER,
                content=message,
                metadata={"answers": str(question.id)} if question and answers else {},
            )
            if question and answers:
                ToolCall.objects.filter(id=question.id, result__isnull=True).update(
                    result={"success": True, "data": {"answer": message}},
                    finished_at=timezone.now(),
                )
    except IntegrityError as error:
        if "turn_one_open_a_conversation" in str(error):
            raise TurnRunning from error
        raise
    return turn.id


def _conversation(
    organisation_id: UUID, external_user_id: str, conversation_id: UUID | None, message: str
) -> Conversation:
    if conversation_id is None:
        return Conversation.objects.create(
            organisation_id=organisation_id,
            external_user_id=external_user_id,
            title=message.strip()[:120],
        )
    found = (
        Conversation.objects.select_for_update()
        .filter(
            id=conversation_id,
            organisation_id=organisation_id,
            external_user_id=external_user_id,
        )
        .first()
    )
    if found is None:
        raise UnknownConversation
    found.save(update_fields=["updated_at"])
    return found


def _open_question(conversation: Conversation) -> ToolCall | None:
    last = Turn.objects.filter(conversation=conversation).order_by("-created_at", "-id").first()
    if last is None or last.ending != Turn.Ending.QUESTION:
        return None
    return last.calls.filter(name=ASK_USER, result__isnull=True).first()


def run_turn(turn_id: UUID, *, stream: bool = False) -> bool:
    """Work through one chat turn until it is finished. False when it was not to be had
    (finished already, or another process works on it)."""
    lease = journal.claim(turn_id)
    if lease is None:
        return False
    turn = Turn.objects.select_related("conversation", "organisation").get(id=turn_id)
    if turn.attempts > MAX_ATTEMPTS:
        finish_turn(lease, text=ERROR_SENTENCE, ending=Turn.Ending.ERROR, code="too_many_attempts")
        return True
    try:
        _work(lease, turn, stream=stream)
    except LeaseLost:
        log.warning("turn.lease_lost", extra={"turn": str(turn_id)})
        return False
    except BudgetExhausted as error:
        finish_turn(lease, text=error.sentence, ending=Turn.Ending.LIMIT, code=error.code)
    except ModelError as error:
        log.warning("turn.model_failed", extra={"turn": str(turn_id), "code": error.code})
        finish_turn(lease, text=ERROR_SENTENCE, ending=Turn.Ending.ERROR, code=error.code)
    return True


def _work(lease: Lease, turn: Turn, *, stream: bool) -> None:
    person = people.person(
        organisation_id=turn.organisation_id, external_user_id=turn.external_user_id
    )
    if person is None:
        finish_turn(lease, text=ERROR_SENTENCE, ending=Turn.Ending.ERROR, code="unknown_user")
        return
    _decide(lease, turn)
    past, own_steps = history.load(turn)
    words = history.user_words(turn)
    capabilities = people.capabilities(person)
    name = person.accounts[0].display_name or person.external_user_id
    system = prompts.orchestrator(
        capabilities=capabilities,
        user=name,
        today=timezone.now().date().isoformat(),
        skills=people.skills(person),
    )
    present, started = past[-1], time.monotonic()
    earlier = [step for record in past[:-1] for step in record.steps]

    def messages(steps: Sequence[StepRecord], room: int) -> Sequence[prompts.Wire]:
        now = TurnRecord(
            user_text=present.user_text,
            decisions=present.decisions,
            steps=tuple(steps),
            reply=None,
        )
        review = reviewing.midway(lease, request=words, steps=steps, earlier=earlier)
        plan = planning.of_conversation(turn.conversation_id)
        last = state.messages(plan=plan, review=review)
        built = prompts.build_messages(
            system=system, turns=[*past[:-1], now], max_tokens=room - truncation.tokens(last)
        )
        return (*built, *last)

    run = loop.Run(
        lease=lease,
        agent=roster.ORCHESTRATOR.name,
        parent_call=None,
        tools=roster.ORCHESTRATOR.toolbox,
        limits=roster.ORCHESTRATOR.limits(),
        messages=messages,
        context_for=lambda call: ToolContext(
            lease=lease,
            person=person,
            agent=roster.ORCHESTRATOR.name,
            model=settings.CHAT_MODEL,
            trigger="chat",
            principal=turn.principal,
            user_words=words,
            mail=None,
            pattern_id="",
            call=call,
            delegate=specialists.delegate_for(lease, person, turn, words, started=started),
        ),
        stream=stream,
        steps=own_steps,
        payer=person.payer(turn.id),
        started=started,
    )
    match answering.run(run, request=words, earlier=earlier):
        case Reply(text=text):
            answer = closing.close(lease.turn_id, text, steps=[*earlier, *run.steps])
            finish_turn(lease, text=answer.text, ending=Turn.Ending.REPLY, metadata=answer.metadata)
        case Escalated(text=text):
            said = f"{text}\n\n{prompts.ESCALATED_SENTENCE}".lstrip()
            answer = closing.close(lease.turn_id, said, steps=[*earlier, *run.steps])
            finish_turn(
                lease, text=answer.text, ending=Turn.Ending.ESCALATED, metadata=answer.metadata
            )
        case Question(call=call, text=text):
            finish_turn(lease, text=text or _question(call), ending=Turn.Ending.QUESTION)
        case Stop(limit=limit):
            stopped = limit == "stopped"
            finish_turn(
                lease,
                text=prompts.LIMIT_SENTENCES[limit],
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
        )
        # A changed action is another one: it waits under an id of its own.
        edited = decision["decision"] == "edited" and result.status == "pending"
        action = acting.shown(result) | ({} if edited else {"id": decision["id"]})
        turn.decisions[index] = decision | {key: action[key] for key in TOLD if key in action}
        with lease.held():
            Turn.objects.filter(id=turn.id).update(decisions=journal.storable(turn.decisions))
        journal.add_action(lease, action)


def _question(call: CallRecord) -> str:
    return str(clarification(call.arguments).get("question", ""))


def clarification(arguments: str) -> dict[str, Any]:
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
    with lease.held():
        turn = Turn.objects.get(id=lease.turn_id)
        if turn.conversation_id:
            Message.objects.create(
                conversation_id=turn.conversation_id,
                turn=turn,
                role=Message.Role.ASSISTANT,
                content=journal.storable(text),
                metadata=journal.storable(metadata or {}),
            )
        journal.emit(lease, "turn.finished", {"ending": ending, "code": code})
        failed = ending == Turn.Ending.ERROR
        Turn.objects.filter(id=turn.id).update(
            state=Turn.State.FAILED if failed else Turn.State.FINISHED,
            ending=ending,
            error_code=code,
            lease_owner=None,
            lease_expires_at=None,
            finished_at=timezone.now(),
        )
    log.info("turn.finished", extra={"turn": str(lease.turn_id), "ending": str(ending)})


def take_back(*, now: datetime) -> list[UUID]:
    """Unfinished chat turns that nobody has taken, or whose process died, oldest first, as
    queued ones. For a transaction in which they are queued again."""
    rows = Turn.objects.select_for_update(skip_locked=True).filter(
        kind=Turn.Kind.CHAT,
        state__in=[Turn.State.QUEUED, Turn.State.RUNNING],
        lease_expires_at__lt=now,
    )
    ids = list(rows.order_by("created_at").values_list("id", flat=True)[:TAKEN_BACK])
    Turn.objects.filter(id__in=ids).update(
        state=Turn.State.QUEUED, lease_owner=None, lease_expires_at=now + QUEUE_PATIENCE
    )
    return ids
