"""Rows of `guardrails`, split by what they are about."""

from guardrails.models.allowed_actions import AllowedAction, AllowedActionOption, TargetGroup
from guardrails.models.approval_recipients import ApprovalNotice, ApprovalRecipient
from guardrails.models.approvals import Approval
from guardrails.models.assistant_drafts import AssistantDraft
from guardrails.models.ceiling import CeilingLimit, KillSwitch
from guardrails.models.change_requests import AskedRefusal, ChangeRequest
from guardrails.models.corrections import LabelCorrection
from guardrails.models.directory import DirectorySync, OwnDomain, Person
from guardrails.models.errands import Errand
from guardrails.models.held_sends import HeldSend
from guardrails.models.own_mail import AgentFiling, AgentMail
from guardrails.models.patterns import (
    LearnedPattern,
    PatternAction,
    PatternEvidence,
    PatternHit,
)
from guardrails.models.recipients import CheckpointRecipient
from guardrails.models.shadow import ShadowPolicy
from guardrails.models.skills import Skill
from guardrails.models.trial_asks import TrialAsk
from guardrails.models.undos import Undo
from guardrails.models.usage import TrialUsage, Usage

__all__ = [
    "AgentFiling",
    "AgentMail",
    "AllowedAction",
    "AllowedActionOption",
    "Approval",
    "ApprovalNotice",
    "ApprovalRecipient",
    "AskedRefusal",
    "AssistantDraft",
    "CeilingLimit",
    "ChangeRequest",
    "CheckpointRecipient",
    "DirectorySync",
    "Errand",
    "HeldSend",
    "KillSwitch",
    "LabelCorrection",
    "LearnedPattern",
    "OwnDomain",
    "PatternAction",
    "PatternEvidence",
    "PatternHit",
    "Person",
    "ShadowPolicy",
    "Skill",
    "TargetGroup",
    "TrialAsk",
    "TrialUsage",
    "Undo",
    "Usage",
]
