"""The API of approvals and policy."""

from guardrails.api.approvals import ApprovalsView, DecideView
from guardrails.api.policy import EffectiveView, PolicyView, SimulateView

__all__ = ["ApprovalsView", "DecideView", "EffectiveView", "PolicyView", "SimulateView"]
