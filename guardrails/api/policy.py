"""The API of policy: what a user's agent may do, and one action tried without doing it."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from guardrails.actions import registry
from guardrails.api.scope import accounts_of
from guardrails.contracts import Capability
from guardrails.decide.provenance import IN_WORDS
from guardrails.gather.policy_rows import policy_snapshots
from guardrails.policies import explain, simulation
from guardrails.policies.capabilities import find_capabilities
from integrations.web.authentication import HasScope
from integrations.web.idempotency import ApiView
from integrations.web.serializers import StrictCharField, StrictSerializer

VERDICTS = ["allow", "ask", "refuse"]
MODE_WORDS = {"auto": "Done without asking.", "ask": "A person is asked each time."}


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


class PolicyView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(
        parameters=[OpenApiParameter("user_id", str, required=True)],
        responses=MayDo(many=True),
        operation_id="policy",
    )
    def get(self, request: Request) -> Response:
        """What the user's agent may try. Everything that is not listed here is refused."""
        user_id = request.query_params.get("user_id", "")
        accounts = accounts_of(request, user_id)
        found = find_capabilities(accounts)
        return Response([_may_do(one) for account in accounts for one in found[account.id]])


class EffectiveView(ApiView):
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
        accounts = accounts_of(request, request.query_params.get("user_id", ""))
        target, now = request.query_params.get("target", ""), timezone.now()
        policies = policy_snapshots(accounts)
        actions, reach = [], []
        for account in accounts:
            policy = policies[account.id]
            for one in explain.effective(policy, account.source):
                targets = [
                    {"id": target.external_id, "name": target.name, "kind": target.kind}
                    for target in one.targets
                ]
                body = {"account_id": account.id, "source": account.source, "targets": targets}
                actions.append({**vars(one), "sentence": one.sentence, **body})
            if target:
                reach += [
                    {"account_id": account.id, **vars(one)}
                    for one in explain.may_ever(policy, account.source, target, now=now)
                ]
        return Response(Effective({"actions": actions, "reach": reach}).data)


class SimulateView(ApiView):
    permission_classes = [IsAuthenticated, HasScope("policy")]

    @extend_schema(request=Wish, responses=Simulated, operation_id="policy_simulate")
    def post(self, request: Request) -> Response:
        """What would be decided now about one action. It is not done, and nothing is written."""
        wish = Wish.read(request.data)
        accounts = accounts_of(request, wish["user_id"])
        action = registry.BY_NAME.get(wish["action_type"])
        account = next(
            (one for one in accounts if action and action.works_on(one.source)),
            accounts[0],
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
        reply = {"description": found.description, "provenance": provenance}
        return Response(Simulated({**decision._asdict(), **reply}).data)


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
