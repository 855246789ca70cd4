"""Admin pages of `agents`, split by what they are about."""

from agents.admin import (
    conversations,
    custom_agents,
    deliveries,
    escalations,
    installation,
    past,
    suggestions,
    turns,
)

__all__ = [
    "conversations",
    "custom_agents",
    "deliveries",
    "escalations",
    "installation",
    "past",
    "suggestions",
    "turns",
]
