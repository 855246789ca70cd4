"""The API of approvals and policy."""

from guardrails.api.approvals import (
    ApprovalsView,
    DecideAllView,
    DecideView,
    DelegateView,
    EditView,
    EscalateView,
)
from guardrails.api.change_requests import ChangeRequestsView
from guardrails.api.held_sends import HeldSendsView, RecallView
from guardrails.api.policy import EffectiveView, PolicyView, SimulateView
from guardrails.api.questions import DecideQuestionView, QuestionsView
from guardrails.api.replay import ReplayView
from guardrails.api.undo import UndoView

__all__ = [
    "ApprovalsView",
    "ChangeRequestsView",
    "DecideAllView",
    "DecideQuestionView",
    "DecideView",
    "DelegateView",
    "EditView",
    "EffectiveView",
    "EscalateView",
    "HeldSendsView",
    "PolicyView",
    "QuestionsView",
    "RecallView",
    "ReplayView",
    "SimulateView",
    "UndoView",
]
