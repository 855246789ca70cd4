"""Rows of `agents`, split by what they are about."""

from agents.models.conversations import Conversation, ConversationSummary, Message
from agents.models.custom_agents import CustomAgent, CustomAgentRun
from agents.models.digests import DailyDigest
from agents.models.escalations import Escalation
from agents.models.installation import InstallationCheck
from agents.models.past import PastMail, PastRun
from agents.models.plans import Plan
from agents.models.suggestions import Suggestion
from agents.models.turns import Step, ToolCall, Turn, TurnEvent

__all__ = [
    "Conversation",
    "ConversationSummary",
    "CustomAgent",
    "CustomAgentRun",
    "DailyDigest",
    "Escalation",
    "InstallationCheck",
    "Message",
    "PastMail",
    "PastRun",
    "Plan",
    "Step",
    "Suggestion",
    "ToolCall",
    "Turn",
    "TurnEvent",
]
