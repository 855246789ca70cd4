"""Rows of `agents`, split by what they are about."""

from agents.models.conversations import Conversation, Message
from agents.models.plans import Plan
from agents.models.turns import Step, ToolCall, Turn, TurnEvent

__all__ = ["Conversation", "Message", "Plan", "Step", "ToolCall", "Turn", "TurnEvent"]
