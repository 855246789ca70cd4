"""The API of approvals: what waits for a user, and their word on it."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from django.utils.translation import gettext
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.actions.base import InvalidArguments
from guardrails.api.approval_shapes import (
    Batch,
    Card,
    Change,
    Decided,
    Delegation,
    Escalation,
    Outcomes,
    Page,
    Word,
)
from guardrails.api.conflict import Conflict
from guardrails.api.scope import caller_for, speaking_to
from guardrails.approve import approvals, batch, card_text, cards, delegation, second_yes
from guardrails.approve.approval_rows import ApprovalConflict, ApprovalNotFound
from guardrails.approve.cards import list_cards
from guardrails.approve.speaking import spoken
from guardrails.contracts import ActionResult
from guardrails.contracts.cards import ApprovalCard
from guardrails.decide.provenance import IN_WORDS
from guardrails.models import Approval
from integrations.web.authentication import Caller, HasScope
from integrations.web.idempotency import ApiView


class ApprovalsView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("state", str, enum=Approval.State.values),
            OpenApiParameter("before", UUID, description="The last id of the page before."),
            OpenApiParameter("limit", int, description="How many, 200 at most."),
        ],
        responses=Card(many=True),
        operation_id="approvals",
    )
    def get(self, request: Request) -> Response:
        """What the user is asked about or was handed, newest first. Waiting ones count as
        shown to the person from now on."""
        page = Page.read(request.query_params.dict())
        auth = caller_for(request, page["user_id"])
        with speaking_to(request, page["user_id"]):
            found = list_cards(
                organisation_id=auth.organisation_id,
                external_user_id=page["user_id"],
                state=page.get("state"),
                before=page.get("before"),
                limit=page["limit"],
            )
            approvals.note_shown(found)
            return Response(describe_cards(found, auth, page["user_id"]))


class DecideView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Word, responses=Decided, operation_id="approval_decide")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Confirm or reject. The same word again gives the same answer, another one 409."""
        word = Word.read(request.data)
        auth = caller_for(request, word["user_id"])
        given: dict[str, Any] = {
            "organisation_id": auth.organisation_id,
            "approval_id": approval_id,
            "external_user_id": word["user_id"],
            "digest": word.get("digest"),
            "decided_by": auth.principal,
        }
        with in_http_terms():
            if word["decision"] == "reject":
                result = approvals.reject(**given, reason=word.get("reason", ""))
            else:
                result = approvals.confirm(**given)
        with speaking_to(request, word["user_id"]):
            found = list_cards(organisation_id=auth.organisation_id, ids=[approval_id])
            (card,) = describe_cards(found, auth, word["user_id"])
            return Response({"approval": card, **_became(result)})


class DecideAllView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Batch, responses=Outcomes, operation_id="approvals_decide")
    def post(self, request: Request) -> Response:
        """Several at once, each bound to its own digest and answered for itself: one that
        cannot be decided neither stops nor carries the others."""
        wish = Batch.read(request.data)
        auth = caller_for(request, wish["user_id"])
        answers = batch.decide_all(
            [
                batch.Item(
                    approval_id=item["id"],
                    digest=item["digest"],
                    word=item["decision"],
                    reason=item.get("reason", ""),
                )
                for item in wish["items"]
            ],
            organisation_id=auth.organisation_id,
            decided_by=auth.principal,
            external_user_id=wish["user_id"],
        )
        with speaking_to(request, wish["user_id"]):
            return Response({"results": [describe_outcome(answer) for answer in answers]})


class EditView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Change, responses=Decided, operation_id="approval_edit")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Change arguments. That makes another action with a digest of its own, which waits
        (`approval` is then its card) and is decided like any other; the old one waits no
        longer. If the limits refuse the change, the old one waits on."""
        change = Change.read(request.data)
        auth = caller_for(request, change["user_id"])
        with in_http_terms():
            result = approvals.edit(
                organisation_id=auth.organisation_id,
                approval_id=approval_id,
                external_user_id=change["user_id"],
                decided_by=auth.principal,
                digest=change.get("digest"),
                changes=change["arguments"],
            )
        with speaking_to(request, change["user_id"]):
            found = list_cards(
                organisation_id=auth.organisation_id, ids=[result.approval_id or approval_id]
            )
            (card,) = describe_cards(found, auth, change["user_id"])
            return Response({"approval": card, **_became(result)})


class DelegateView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Delegation, responses=Card, operation_id="approval_delegate")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Hand it to somebody else: only they, or an operator, may decide it then."""
        wish = Delegation.read(request.data)
        auth = caller_for(request, wish["user_id"])
        with in_http_terms():
            row = delegation.delegate(
                organisation_id=auth.organisation_id,
                approval_id=approval_id,
                external_user_id=wish["user_id"],
                to=wish["to"],
                by=auth.principal,
                note=wish.get("note", ""),
            )
        with speaking_to(request, wish["user_id"]):
            found = [cards.card(row, zone=cards.zone_of(row))]
            return Response(describe_cards(found, auth, wish["user_id"])[0])


class EscalateView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Escalation, responses=Card, operation_id="approval_escalate")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Bring it to the operators' attention. It waits on; nothing is approved by it."""
        wish = Escalation.read(request.data)
        auth = caller_for(request, wish["user_id"])
        with in_http_terms():
            row = delegation.escalate(
                organisation_id=auth.organisation_id,
                approval_id=approval_id,
                external_user_id=wish["user_id"],
                by=auth.principal,
                reason=wish.get("reason", ""),
            )
        with speaking_to(request, wish["user_id"]):
            found = [cards.card(row, zone=cards.zone_of(row))]
            return Response(describe_cards(found, auth, wish["user_id"])[0])


@contextmanager
def in_http_terms() -> Iterator[None]:
    """What cannot be decided, as the API says it."""
    try:
        yield
    except ApprovalNotFound as error:
        raise exceptions.NotFound(str(error), code="unknown_approval") from error
    except ApprovalConflict as error:
        raise Conflict(str(error)) from error
    except InvalidArguments as error:
        raise exceptions.ValidationError({"arguments": [f"{error}."]}) from error
    except delegation.UnknownDelegate as error:
        raise exceptions.ValidationError({"to": [str(error)]}) from error


def describe_outcome(answer: batch.Answer) -> dict[str, Any]:
    result = answer.result
    if result is None:
        status = "conflict" if answer.error == "conflict" else "error"
        body = {"status": status, "reason": answer.error, "handled": "", "result": {}}
        return {"id": str(answer.approval_id), "sentence": spoken(answer.sentence), **body}
    return {"id": str(answer.approval_id), **_became(result)}


def describe_cards(
    cards: Sequence[ApprovalCard], reader: Caller, external_user_id: str
) -> list[dict[str, Any]]:
    """As who calls for this user sees them."""
    return [
        describe_card(card)
        for card in second_yes.seen_by(cards, reader.principal, external_user_id)
    ]


def describe_card(card: ApprovalCard) -> dict[str, Any]:
    by_code = {
        path: gettext(IN_WORDS[code]) if code in IN_WORDS else code
        for path, code in card.provenance.items()
    }
    provenance = by_code | {value.path: value.provenance for value in card.values}
    fields = {
        "user_id": card.external_user_id,
        "type": card.action_type,
        "params": card.arguments,
        "provenance": provenance,
        "text": card_text.render(card),
    }
    return Card({**vars(card), **fields}).data


def _became(result: ActionResult) -> dict[str, Any]:
    """What became of the action."""
    return {
        "status": result.status,
        "reason": result.reason,
        "sentence": result.sentence,
        "handled": result.handled,
        "result": result.result,
    }
