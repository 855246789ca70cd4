"""The API of approvals, policy, and what was learned."""

from guardrails.api.approvals import (
    ApprovalsView,
    DecideAllView,
    DecideView,
    DelegateView,
    EditView,
    EscalateView,
)
from guardrails.api.change_requests import ChangeRequestsView
from guardrails.api.drafts import DraftsView
from guardrails.api.held_sends import HeldSendsView, RecallView
from guardrails.api.learning import (
    DecidePatternView,
    DecideSkillView,
    PatternsView,
    SkillsView,
)
from guardrails.api.policy import EffectiveView, PolicyView, SimulateView
from guardrails.api.questions import DecideQuestionView, QuestionsView
from guardrails.api.replay import ReplayView
from guardrails.api.undo import UndoView

__all__ = [
    "ApprovalsView",
    "ChangeRequestsView",
    "DecideAllView",
    "DecidePatternView",
    "DecideQuestionView",
    "DecideSkillView",
    "DecideView",
    "DelegateView",
    "DraftsView",
    "EditView",
    "EffectiveView",
    "EscalateView",
    "HeldSendsView",
    "PatternsView",
    "PolicyView",
    "QuestionsView",
    "RecallView",
    "ReplayView",
    "SimulateView",
    "SkillsView",
    "UndoView",
]
