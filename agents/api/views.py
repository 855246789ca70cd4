"""The chat API: `POST /api/v1/chat` and its streaming variant, turns and conversations."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.db.models import Exists, OuterRef
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import exceptions, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from agents.answer import escalations
from agents.api.conversation_shapes import (
    ConversationPage,
    ConversationsFields,
    MessagePage,
    MessagesFields,
)
from agents.api.shapes import (
    ChatRequest,
    ChatResponse,
    StreamStarted,
    TaskRequest,
    TaskResponse,
    TurnStream,
    decisions_in,
)
from agents.api.status_shapes import StatusResponse
from agents.models import Conversation, Turn
from agents.turns import opening, turns, waiting
from agents.turns.responses import build_response, build_task
from agents.turns.roster import AGENTS
from agents.turns.streams import SALT
from agents.turns.work import load_work, with_tool_messages
from guardrails.approve import questions
from guardrails.approve.cards import list_cards
from guardrails.policies import stopped
from integrations.contracts.field_types import uuid_or_none
from integrations.web.authentication import Caller, HasScope, LacksScope, caller_for, caller_of
from integrations.web.cursors import page
from integrations.web.idempotency import ApiView

MAY_DECIDE = "approvals"  # who may chat may not confirm by that alone


class Conflict(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "turn_running"
    default_detail = "The last message of this session is still being worked on. Try again soon."


def start(request: Request, data: Mapping[str, Any], *, queued: bool) -> UUID:
    """Store the turn of a chat request that was read."""
    auth = caller_for(request, data["user_id"])
    decisions = decisions_in(data)
    if decisions:
        if MAY_DECIDE not in auth.scopes:
            raise LacksScope(MAY_DECIDE)
        ids = [UUID(decision["id"]) for decision in decisions]
        known = list_cards(
            organisation_id=auth.organisation_id, external_user_id=data["user_id"], ids=ids
        )
        if len(known) != len(ids):
            raise exceptions.NotFound("There is no such action.", code="unknown_action")
    try:
        return opening.start_turn(
            organisation_id=auth.organisation_id,
            external_user_id=data["user_id"],
            conversation_id=data.get("session_id"),
            message=data["message"],
            decisions=decisions,
            principal=auth.principal,
            queued=queued,
            pasted=data.get("pasted") or (),
            option=data.get("option"),
            may_decide=MAY_DECIDE in auth.scopes,
        )
    except opening.UnknownOption as error:
        raise exceptions.ValidationError(
            {"option": ["No question is open that offers this."]}
        ) from error
    except opening.UnknownUser as error:
        raise exceptions.NotFound("There is no such user.", code="unknown_user") from error
    except opening.TurnRunning as error:
        raise Conflict from error


def run(request: Request, data: Mapping[str, Any]) -> UUID:
    """Store the turn and see it through: here, or where the user's own accounts can be opened."""
    auth = caller_for(request, data["user_id"])
    here = waiting.may_run_here(auth.organisation_id, data["user_id"])
    turn_id = start(request, data, queued=not here)
    if here:
        turns.run_turn(turn_id)
    else:
        waiting.await_end(turn_id)
    return turn_id


def find_turn(auth: Caller, turn_id: UUID) -> Turn:
    """A chat turn of somebody whom the caller may act for."""
    rows = Turn.objects.filter(kind=Turn.Kind.CHAT, organisation_id=auth.organisation_id)
    turn = rows.filter(id=turn_id).first()
    if turn is None or not auth.allows_user(turn.external_user_id):
        raise exceptions.NotFound("There is no such turn.", code="unknown_turn")
    return turn


class ChatView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(request=ChatRequest, responses=ChatResponse, operation_id="chat")
    def post(self, request: Request) -> Response:
        """Say something, answer a question, confirm or reject actions; wait for the answer."""
        turn_id = run(request, ChatRequest.read(request.data))
        return Response(build_response(turn_id, by=caller_of(request).principal))


class ChatStreamView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(request=ChatRequest, responses={202: StreamStarted}, operation_id="chat_stream")
    def post(self, request: Request) -> Response:
        """The same as chat, worked through by a process of its own and followed as events."""
        turn_id = start(request, ChatRequest.read(request.data), queued=True)
        session = Conversation.objects.get(turns=turn_id)
        started = stream_of(turn_id, request) | {"session_id": str(session.session_id)}
        return Response(started, status=status.HTTP_202_ACCEPTED)


class TurnStreamView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(responses=TurnStream, operation_id="turn_stream")
    def get(self, request: Request, turn_id: UUID) -> Response:
        """Where to follow a turn again, from its first event: for clients that began anew."""
        return Response(stream_of(find_turn(caller_of(request), turn_id).id, request))


def stream_of(turn_id: UUID, request: Request) -> dict[str, str]:
    token = signing.dumps([str(turn_id), caller_of(request).principal], salt=SALT)
    address = f"/api/v1/turns/{turn_id}/events?token={token}"
    return {"turn_id": str(turn_id), "stream_url": address}


class TasksView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(request=TaskRequest, responses=TaskResponse, operation_id="task")
    def post(self, request: Request) -> Response:
        """Have one task worked through in a session of its own; wait for what came of it."""
        task = TaskRequest.read(request.data)
        message = {"user_id": task["user_id"], "message": task["task"]}
        return Response(build_task(run(request, message)))


class TurnView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(responses=ChatResponse, operation_id="turn")
    def get(self, request: Request, turn_id: UUID) -> Response:
        """One turn as it stands now, for clients that lost the answer."""
        auth = caller_of(request)
        return Response(build_response(find_turn(auth, turn_id).id, by=auth.principal))


class StopView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(request=None, responses=ChatResponse, operation_id="turn_stop")
    def post(self, request: Request, turn_id: UUID) -> Response:
        """End a turn. An action that is under way ends first; `status` says when it is over."""
        auth = caller_of(request)
        turn = find_turn(auth, turn_id)
        turns.stop_turn(turn.id, by=auth.principal, now=timezone.now())
        return Response(build_response(turn.id, by=auth.principal))


class ConversationsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(
        parameters=[ConversationsFields],
        responses=ConversationPage,
        operation_id="conversations",
    )
    def get(self, request: Request) -> Response:
        """The user's sessions, newest first."""
        chosen = ConversationsFields.read(request.query_params.dict())
        user_id = chosen["user_id"]
        auth = caller_for(request, user_id)
        rows = Conversation.objects.filter(
            organisation_id=auth.organisation_id, external_user_id=user_id
        ).annotate(
            waits_for_person=escalations.waits_in_conversation(),
            waits_for_decision=_waits_for_decision(auth.organisation_id, user_id),
        )
        items, after = page(rows, chosen, by="updated_at")
        return Response(ConversationPage({"items": items, "next_cursor": after}).data)


def _waits_for_decision(organisation_id: UUID, user_id: str) -> Exists:
    """Whether an action of a conversation, the outer query's row, waits for a yes or no."""
    waiting = questions.list_waiting_turns(
        organisation_id=organisation_id, external_user_id=user_id
    )
    # An outside agent names a turn as it likes; no conversation has such a one.
    turns = [turn for one in waiting if (turn := uuid_or_none(one))]
    return Exists(Turn.objects.filter(conversation=OuterRef("pk"), id__in=turns))


class ConversationView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    def conversation(self, request: Request, conversation_id: UUID) -> Conversation:
        caller = caller_of(request)
        rows = Conversation.objects.filter(
            Conversation.named(conversation_id), organisation_id=caller.organisation_id
        )
        for row in rows:
            if caller.allows_user(row.external_user_id):
                return row
        raise exceptions.NotFound("There is no such session.", code="unknown_session")

    @extend_schema(
        parameters=[MessagesFields],
        responses=MessagePage,
        operation_id="conversation",
    )
    def get(self, request: Request, conversation_id: UUID) -> Response:
        """The newest messages of a session, oldest first; the next page has older ones."""
        chosen = MessagesFields.read(request.query_params.dict())
        row = self.conversation(request, conversation_id)
        found, after = page(row.messages.all(), chosen, by="created_at")
        items = found[::-1]
        context = {"work": load_work({message.turn_id for message in items})}
        if chosen["tools"]:
            items = with_tool_messages(items)
        return Response(MessagePage({"items": items, "next_cursor": after}, context=context).data)

    @extend_schema(responses={204: None}, operation_id="conversation_delete")
    def delete(self, request: Request, conversation_id: UUID) -> Response:
        """Delete a session with its messages and turns. The ledger keeps what was done."""
        self.conversation(request, conversation_id).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class StatusView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("chat")]

    @extend_schema(responses=StatusResponse, operation_id="status")
    def get(self, request: Request) -> Response:
        """The agents, their tools and limits, which model answers, and what is stopped."""
        found = StatusResponse(
            {
                "chat_model": settings.CHAT_MODEL,
                "model_is_offline": settings.MODEL_IS_OFFLINE,
                "max_seconds": settings.TURN_MAX_SECONDS,
                "stops": stopped.list_thrown([caller_of(request).organisation_id]),
                "agents": [
                    {
                        "name": agent.name,
                        "model": agent.model,
                        "version": agent.version,
                        **asdict(agent.limits()),
                        "tools": [
                            {"name": tool.name, "description": tool.description}
                            for tool in agent.toolbox.values()
                        ],
                    }
                    for agent in AGENTS
                ],
            }
        )
        return Response(found.data)
