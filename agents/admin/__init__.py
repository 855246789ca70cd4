"""Admin pages of `agents`, split by what they are about."""

from agents.admin import custom_agents, escalations, installation, past, suggestions, turns

__all__ = ["custom_agents", "escalations", "installation", "past", "suggestions", "turns"]
