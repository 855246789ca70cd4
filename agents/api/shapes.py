"""The shapes of the chat API's requests and responses."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from agents.api.action_shapes import (
    CompletedAction,
    HandledAction,
    HeldAction,
    PendingQuestion,
    RefusedAction,
)
from guardrails.approve.card_shapes import WaitingCard
from integrations.web.serializers import StrictCharField, StrictSerializer

MESSAGE_MAX = 20_000
PASTES_MAX = 200
OPTIONS_MAX = 20  # of agents.tools.ask_user


class Edit(StrictSerializer):
    id = serializers.UUIDField()
    params = serializers.DictField(
        allow_empty=False, help_text="The arguments to change; null removes one."
    )


class ChatRequest(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    session_id = serializers.UUIDField(
        required=False,
        allow_null=True,
        help_text="Goes on with this session, or begins it under this id: make one (UUID) or leave "
        "it out.",
    )
    message = StrictCharField(
        max_length=MESSAGE_MAX,
        allow_blank=True,
        trim_whitespace=False,  # `pasted` counts its characters
        help_text="What the user typed. May be empty when actions are confirmed or rejected, or "
        "an option is chosen.",
    )
    pasted = serializers.ListField(
        child=serializers.ListField(
            child=serializers.IntegerField(min_value=0, max_value=MESSAGE_MAX),
            min_length=2,
            max_length=2,
        ),
        required=False,
        allow_null=True,
        max_length=PASTES_MAX,
        help_text="Which parts of the message were pasted, dropped or filled in: [start, end] "
        "each, counted in Unicode code points, the end not included. They are read, but never "
        "count as typed by the user. What is not marked is looked at for quoted mail, signatures, "
        "code and the like.",
    )
    option = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=0,
        max_value=OPTIONS_MAX - 1,
        help_text="Answers the open question by one of its options: its place among them, from 0. "
        "The message is empty then.",
    )
    confirm_actions = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, max_length=50
    )
    reject_actions = serializers.ListField(
        child=serializers.UUIDField(), required=False, allow_null=True, max_length=50
    )

    edits = serializers.ListField(
        child=Edit(),
        required=False,
        allow_null=True,
        max_length=50,
        help_text="Actions with other arguments. Each then waits under an id of its own.",
    )
    digests = serializers.DictField(
        child=StrictCharField(max_length=64),
        required=False,
        help_text="By id of the action: the digest that was shown. Then the answer counts only "
        "for exactly that.",
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        decided = [decision["id"] for decision in decisions_in(attrs)]
        if len(decided) != len(set(decided)):
            raise serializers.ValidationError(
                {"confirm_actions": ["Decide about each action once."]}
            )
        written, chosen = attrs["message"], attrs.get("option") is not None
        if not written.strip() and not decided and not chosen:
            raise serializers.ValidationError({"message": ["Write a message."]})
        if written.strip() and chosen:
            raise serializers.ValidationError({"option": ["Choose an option or write, not both."]})
        spans = attrs.get("pasted") or []
        if any(not start <= end <= len(written) for start, end in spans):
            raise serializers.ValidationError({"pasted": ["A span is not within the message."]})
        attrs["message"] = written.strip()
        before = len(written) - len(written.lstrip())
        attrs["pasted"] = [[max(0, place - before) for place in span] for span in spans]
        return attrs


def decisions_in(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What a chat request decides about pending actions, as turns keep it."""
    digests = data.get("digests") or {}
    decisions: list[dict[str, Any]] = [
        {"id": str(id), "decision": decision}
        for decision, field in (("confirmed", "confirm_actions"), ("rejected", "reject_actions"))
        for id in dict.fromkeys(data.get(field) or [])
    ]
    decisions += [
        {"id": str(edit["id"]), "decision": "edited", "params": edit["params"]}
        for edit in data.get("edits") or []
    ]
    return [
        decision | ({"digest": digests[decision["id"]]} if decision["id"] in digests else {})
        for decision in decisions
    ]


class ContextUsed(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    title = serializers.CharField()
    relevance = serializers.FloatField()


class Citation(serializers.Serializer[Any]):
    n = serializers.IntegerField()
    id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    title = serializers.CharField()


class Clarification(serializers.Serializer[Any]):
    question = serializers.CharField()
    options = serializers.ListField(child=serializers.CharField())
    required_for = serializers.CharField()


class PlanStep(serializers.Serializer[Any]):
    id = serializers.CharField()
    description = serializers.CharField()
    status = serializers.CharField(help_text="pending, in_progress, completed or failed")
    result = serializers.CharField()
    tools_required = serializers.ListField(child=serializers.CharField())
    execution_strategy = serializers.CharField(help_text="parallel or sequential")
    depends_on = serializers.ListField(child=serializers.CharField())


class PlanGoal(serializers.Serializer[Any]):
    id = serializers.CharField()
    description = serializers.CharField()
    status = serializers.CharField(help_text="pending, in_progress, completed or blocked")
    priority = serializers.CharField(help_text="high, medium or low")
    estimated_complexity = serializers.CharField(help_text="simple, moderate or complex")
    depends_on = serializers.ListField(child=serializers.CharField())
    steps = PlanStep(many=True)


class Plan(serializers.Serializer[Any]):
    request = serializers.CharField()
    progress = serializers.CharField(help_text="In words.")
    finished = serializers.BooleanField()
    ready = serializers.ListField(
        child=serializers.CharField(), help_text="Ids of the steps that can be worked on now."
    )
    goals = PlanGoal(many=True)


class Review(serializers.Serializer[Any]):
    quality_score = serializers.FloatField(allow_null=True, help_text="Null: no model said.")
    completeness = serializers.FloatField(allow_null=True)
    relevance = serializers.FloatField(allow_null=True)
    needs_more_data = serializers.BooleanField()
    gaps = serializers.ListField(child=serializers.CharField())
    suggested_actions = serializers.ListField(child=serializers.CharField())
    recommendation = serializers.CharField(
        help_text="proceed, revise, gather_more, clarify_query or replan"
    )
    by = serializers.CharField(help_text="model, or records where the model gave none")


class EscalationState(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    state = serializers.CharField(help_text="open, taken or done")
    reason = serializers.CharField(help_text="In the agent's words.")
    answer = serializers.CharField(help_text="What the person answered; it is a message too.")


class TurnProblem(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="What broke, or `limit` or `error`.")
    detail = serializers.CharField(help_text="A sentence for people.")


class ChatResponse(serializers.Serializer[Any]):
    session_id = serializers.UUIDField()
    turn_id = serializers.UUIDField()
    message_id = serializers.CharField()
    status = serializers.CharField(help_text="queued, running, finished or failed")
    ending = serializers.CharField(
        help_text="reply, question, escalated, limit, stopped or error; empty before the end"
    )
    problem = TurnProblem(
        allow_null=True, help_text="Why there is no proper answer; null where there is one."
    )
    response = serializers.CharField(help_text="Markdown.")
    response_html = serializers.CharField(
        help_text="The response as HTML that is safe to show: no script, image or style, no link "
        "but to the web and to what it cites."
    )
    context_used = ContextUsed(many=True)
    pending_actions = WaitingCard(many=True)
    questions = PendingQuestion(
        many=True, help_text="The pending actions, like ones together: answer each as a whole."
    )
    held_actions = HeldAction(many=True)
    handled_actions = HandledAction(
        many=True, help_text="Actions of the session that a person has decided, here or elsewhere."
    )
    completed_actions = CompletedAction(many=True)
    refused_actions = RefusedAction(many=True)
    escalation = EscalationState(
        allow_null=True, help_text="Of a turn that was handed to a person, as it stands now."
    )
    needs_clarification = serializers.BooleanField()
    clarification = Clarification(allow_null=True)
    plan = Plan(allow_null=True, help_text="Of the session, as it stands now.")
    citations = Citation(many=True, help_text="What each [n] of the response stands for.")
    review = Review(allow_null=True, help_text="Of the response, where one was made.")
    record = serializers.CharField(
        help_text="How many actions of this turn are in which state, from the records, "
        "whatever the response says."
    )


class TurnStream(serializers.Serializer[Any]):
    turn_id = serializers.UUIDField()
    stream_url = serializers.CharField(
        help_text="Server-sent events; valid for an hour; resumes from Last-Event-ID."
    )


class StreamStarted(TurnStream):
    session_id = serializers.UUIDField()


class TaskRequest(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    task = StrictCharField(max_length=MESSAGE_MAX, help_text="What is to be done, in words.")


class TaskResponse(serializers.Serializer[Any]):
    task_id = serializers.UUIDField(help_text="The turn: ask `/api/v1/turns/{task_id}` for it.")
    status = serializers.ChoiceField(
        ["success", "needs_input", "escalated", "failed"],
        help_text="failed: no answer, or something of it was refused or did not work; what was "
        "done all the same is in `answer`.",
    )
    answer = ChatResponse(
        help_text="As of chat. Go on with its `session_id`: answer, confirm or reject."
    )
