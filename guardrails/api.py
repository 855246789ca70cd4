"""The API of approvals and policy: what waits for a user, their word on it, and what their
agent may do."""

from typing import Any
from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import exceptions, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from guardrails import approvals, explain, registry, selectors, simulation
from guardrails.contracts import ActionResult, ApprovalCard, Capability
from guardrails.models import Approval
from guardrails.provenance import IN_WORDS
from integrations.authentication import Caller, HasScope, caller_of
from integrations.contracts import AccountRef
from integrations.models import Account
from integrations.serializers import StrictCharField, StrictSerializer

REASON_MAX = 1000
VERDICTS = ["allow", "ask", "refuse"]
MODE_WORDS = {"auto": "Done without asking.", "ask": "A person is asked each time."}


class Conflict(exceptions.APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"
    default_detail = "This was decided otherwise."


class Card(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    action_id = serializers.UUIDField(help_text="Its id in the ledger.")
    turn_id = serializers.CharField()
    type = serializers.CharField()
    description = serializers.CharField(help_text="The action in one line.")
    params = serializers.DictField(help_text="The arguments: exactly these are executed.")
    provenance = serializers.DictField(
        child=serializers.CharField(), help_text="Where each value comes from, in words."
    )
    side_effects = serializers.ListField(child=serializers.CharField())
    digest = serializers.CharField(help_text="Send it back to bind the word to what was shown.")
    state = serializers.ChoiceField(choices=Approval.State.choices)
    reason = serializers.CharField(help_text="Why a person is asked.")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    decided_at = serializers.DateTimeField(allow_null=True)
    decided_by = serializers.CharField()


class Word(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    decision = serializers.ChoiceField(choices=["confirm", "reject"])
    digest = StrictCharField(
        max_length=64, required=False, help_text="The digest that was shown to the person."
    )
    reason = StrictCharField(max_length=REASON_MAX, required=False, allow_blank=True)


class Decided(serializers.Serializer[Any]):
    approval = Card()
    status = serializers.CharField(help_text="succeeded, noop, refused, failed, unknown, pending")
    reason = serializers.CharField()
    sentence = serializers.CharField()
    result = serializers.DictField()


class Target(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    kind = serializers.CharField()


class MayDo(serializers.Serializer[Any]):
    account_id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    action_type = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    mode = serializers.CharField()
    sentence = serializers.CharField()
    targets = Target(many=True)


class EffectiveAction(serializers.Serializer[Any]):
    account_id = serializers.UUIDField()
    source = serializers.CharField()  # type: ignore[assignment]  # DRF takes it off the class
    action_type = serializers.CharField()
    title = serializers.CharField()
    verdict = serializers.ChoiceField(choices=VERDICTS, help_text="At best.")
    sentence = serializers.CharField()
    strictest = serializers.CharField(help_text="Who or what is strictest about it.")
    conditions = serializers.ListField(child=serializers.CharField())
    targets = Target(many=True)


class Reach(serializers.Serializer[Any]):
    account_id = serializers.UUIDField()
    action_type = serializers.CharField()
    title = serializers.CharField()
    role = serializers.CharField(help_text="to, cc, bcc, or the kind of target.")
    verdict = serializers.ChoiceField(choices=VERDICTS, help_text="At best.")
    sentence = serializers.CharField()


class Effective(serializers.Serializer[Any]):
    actions = EffectiveAction(many=True)
    reach = Reach(many=True, help_text="May it ever reach `target`? Empty without one.")


class Wish(StrictSerializer):
    user_id = StrictCharField(max_length=200)
    action_type = StrictCharField(max_length=64)
    arguments = serializers.DictField(help_text="As the agent would give them.")
    user_words = StrictCharField(
        max_length=20_000,
        required=False,
        allow_blank=True,
        default="",
        help_text="What the user typed in this turn: values in it count as typed.",
    )
    email_id = StrictCharField(
        max_length=500,
        required=False,
        default="",
        help_text="The inbound mail that sets it off; without one it is a chat.",
    )
    thread_id = StrictCharField(max_length=500, required=False, default="")


class CheckStep(serializers.Serializer[Any]):
    name = serializers.CharField()
    passed = serializers.BooleanField()
    detail = serializers.CharField()


class Simulated(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=VERDICTS)
    reason = serializers.CharField()
    sentence = serializers.CharField()
    description = serializers.CharField(help_text="The action in one line, if not refused.")
    checks = CheckStep(many=True, help_text="In order; the first that fails decides.")
    provenance = serializers.DictField(
        child=serializers.CharField(), help_text="Where each value comes from, in words."
    )
    side_effects = serializers.ListField(child=serializers.CharField())
    policy_digest = serializers.CharField()


class ApprovalsView(APIView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("state", str, enum=Approval.State.values),
        ],
        responses=Card(many=True),
        operation_id="approvals",
    )
    def get(self, request: Request) -> Response:
        """The user's approvals, the 200 newest."""
        user_id = request.query_params.get("user_id", "")
        auth = _caller(request, user_id)
        state = request.query_params.get("state")
        if state is not None and state not in Approval.State.values:
            raise exceptions.ValidationError({"state": ["There is no such state."]})
        cards = selectors.approval_cards(
            organisation_id=auth.organisation_id, external_user_id=user_id, state=state
        )
        return Response([_card(card) for card in cards])


class DecideView(APIView):
    permission_classes = [IsAuthenticated, HasScope("approvals")]

    @extend_schema(request=Word, responses=Decided, operation_id="approval_decide")
    def post(self, request: Request, approval_id: UUID) -> Response:
        """Confirm or reject. The same word again gives the same answer, another one 409."""
        body = Word(data=request.data)
        body.is_valid(raise_exception=True)
        word = body.validated_data
        auth = _caller(request, word["user_id"])
        given: dict[str, Any] = {
            "organisation_id": auth.organisation_id,
            "approval_id": approval_id,
            "external_user_id": word["user_id"],
            "digest": word.get("digest"),
            "decided_by": auth.principal,
        }
        try:
            if word["decision"] == "reject":
                result = approvals.reject(**given, reason=word.get("reason", ""))
            else:
                result = approvals.confirm(**given)
        except approvals.ApprovalNotFound as error:
            raise exceptions.NotFound(str(error), code="unknown_approval") from error
        except approvals.ApprovalConflict as error:
            raise Conflict(str(error)) from error
        (card,) = selectors.approval_cards(organisation_id=auth.organisation_id, ids=[approval_id])
        return Response(_decided(card, result))


class PolicyView(APIView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(
        parameters=[OpenApiParameter("user_id", str, required=True)],
        responses=MayDo(many=True),
        operation_id="policy",
    )
    def get(self, request: Request) -> Response:
        """What the user's agent may try. Whatever is not listed here is refused."""
        user_id = request.query_params.get("user_id", "")
        accounts = _accounts(request, user_id)
        found = selectors.capabilities(accounts)
        return Response([_may_do(one) for account in accounts for one in found[account.id]])


class EffectiveView(APIView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(
        parameters=[
            OpenApiParameter("user_id", str, required=True),
            OpenApiParameter("target", str, description="An address, or the id of a target."),
        ],
        responses=Effective,
        operation_id="policy_effective",
    )
    def get(self, request: Request) -> Response:
        """Every action of the user's accounts as the policy has it now, and who is strictest."""
        accounts = _accounts(request, request.query_params.get("user_id", ""))
        target, now = request.query_params.get("target", ""), timezone.now()
        policies = selectors.policy_snapshots(accounts)
        actions, reach = [], []
        for account in accounts:
            policy = policies[account.id]
            for one in explain.effective(policy, account.source):
                targets = [
                    {"id": option.external_id, "name": option.name, "kind": option.kind}
                    for option in one.targets
                ]
                told = {"account_id": account.id, "source": account.source, "targets": targets}
                actions.append({**vars(one), "sentence": one.sentence, **told})
            if target:
                reach += [
                    {"account_id": account.id, **vars(one)}
                    for one in explain.may_ever(policy, account.source, target, now=now)
                ]
        return Response(Effective({"actions": actions, "reach": reach}).data)


class SimulateView(APIView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(request=Wish, responses=Simulated, operation_id="policy_simulate")
    def post(self, request: Request) -> Response:
        """What would be decided now about one action. It is not done, and nothing is written."""
        body = Wish(data=request.data)
        body.is_valid(raise_exception=True)
        wish = body.validated_data
        accounts = _accounts(request, wish["user_id"])
        action = registry.BY_NAME.get(wish["action_type"])
        account = next(
            (one for one in accounts if action and one.source == action.source), accounts[0]
        )
        found = simulation.simulate(
            simulation.wish(
                account,
                action_type=wish["action_type"],
                arguments=wish["arguments"],
                user_words=wish["user_words"],
                email_id=wish["email_id"],
                thread_id=wish["thread_id"],
            )
        )
        decision = found.decision
        provenance = {path: IN_WORDS.get(code, code) for path, code in decision.provenance.items()}
        told = {"description": found.description, "provenance": provenance}
        return Response(Simulated({**vars(decision), **told}).data)


def _accounts(request: Request, user_id: str) -> list[AccountRef]:
    """The user's accounts, when the caller may act for this user."""
    auth = _caller(request, user_id)
    rows = Account.objects.select_related("organisation").filter(
        organisation_id=auth.organisation_id, external_user_id=user_id
    )
    accounts = [row.ref() for row in rows.order_by("source")]
    if not accounts:
        raise exceptions.NotFound("There is no such user.", code="unknown_user")
    return accounts


def _caller(request: Request, external_user_id: str) -> Caller:
    """The caller, when it may act for this user. Another user's id is as unknown as none."""
    auth = caller_of(request)
    if not external_user_id:
        raise exceptions.ValidationError({"user_id": ["Say for which user."]})
    if not auth.allows_user(external_user_id):
        raise exceptions.NotFound("There is no such user.", code="unknown_user")
    return auth


def _card(card: ApprovalCard) -> dict[str, Any]:
    provenance = {path: IN_WORDS.get(code, code) for path, code in card.provenance.items()}
    shown = {"type": card.action_type, "params": card.arguments, "provenance": provenance}
    return Card({**vars(card), **shown}).data


def _decided(card: ApprovalCard, result: ActionResult) -> dict[str, Any]:
    return {
        "approval": _card(card),
        "status": result.status,
        "reason": result.reason,
        "sentence": result.sentence,
        "result": result.result,
    }


def _may_do(capability: Capability) -> dict[str, Any]:
    return {
        "account_id": capability.account_id,
        "source": capability.source,
        "action_type": capability.action_type,
        "title": registry.BY_NAME[capability.action_type].title,
        "description": capability.description,
        "mode": capability.mode,
        "sentence": MODE_WORDS[capability.mode],
        "targets": [vars(target) for target in capability.targets],
    }
