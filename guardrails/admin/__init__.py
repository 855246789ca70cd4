"""Admin of what agents may do, and the inbox of approvals: one file for each kind of row."""

from guardrails.admin import (
    approvals,
    ceiling,
    holds,
    mcp_servers,
    patterns,
    permissions,
    policy,
    recipients,
    skills,
    switches,
    undo,
)

__all__ = [
    "approvals",
    "ceiling",
    "holds",
    "mcp_servers",
    "patterns",
    "permissions",
    "policy",
    "recipients",
    "skills",
    "switches",
    "undo",
]
