"""The API of approvals and policy."""

from guardrails.api.approvals import ApprovalsView, DecideView, EditView
from guardrails.api.holds import HoldsView, RecallView
from guardrails.api.policy import EffectiveView, PolicyView, SimulateView
from guardrails.api.replay import ReplayView

__all__ = [
    "ApprovalsView",
    "DecideView",
    "EditView",
    "EffectiveView",
    "HoldsView",
    "PolicyView",
    "RecallView",
    "ReplayView",
    "SimulateView",
]
