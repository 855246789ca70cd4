"""The API of questions: like actions that wait together, answered by one word."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.api.approval_shapes import Outcomes, Question, QuestionWord, UserOf
from guardrails.api.approvals import describe_card, describe_outcome, in_http_terms
from guardrails.api.scope import caller_for, speaking_to
from guardrails.approve import approvals, questions, second_yes
from guardrails.approve.cards import list_cards
from guardrails.contracts.cards import QuestionCard
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView


class QuestionsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[OpenApiParameter("user_id", str, required=True)],
        responses=Question(many=True),
        operation_id="questions",
    )
    def get(self, request: Request) -> Response:
        """What waits for the user, newest first, with like actions under one question. They count
        as shown to the person from now on."""
        wanted = UserOf.read(request.query_params.dict())
        auth = caller_for(request, wanted["user_id"])
        with speaking_to(request, wanted["user_id"]):
            found = list_cards(
                organisation_id=auth.organisation_id,
                external_user_id=wanted["user_id"],
                state="pending",
            )
            approvals.note_shown(found)
            found = second_yes.seen_by(found, auth.principal, wanted["user_id"])
            return Response([_question(one) for one in questions.group(found)])


class DecideQuestionView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=QuestionWord, responses=Outcomes, operation_id="question_decide")
    def post(self, request: Request, question_id: UUID) -> Response:
        """One word on all of them, bound to the digest over all; those `without` are rejected.
        Each action has a result of its own."""
        word = QuestionWord.read(request.data)
        auth = caller_for(request, word["user_id"])
        with in_http_terms():
            answers = questions.decide(
                organisation_id=auth.organisation_id,
                question_id=question_id,
                external_user_id=word["user_id"],
                decided_by=auth.principal,
                digest=word["digest"],
                word=word["decision"],
                without=word.get("without", ()),
                reason=word.get("reason", ""),
            )
        with speaking_to(request, word["user_id"]):
            return Response({"results": [describe_outcome(answer) for answer in answers]})


def _question(question: QuestionCard) -> dict[str, Any]:
    return {
        "id": str(question.id),
        "heading": question.heading,
        "digest": question.digest,
        "approvals": [describe_card(card) for card in question.cards],
    }
