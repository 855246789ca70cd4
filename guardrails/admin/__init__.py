"""Admin of what agents may do, and the inbox of approvals: one file for each kind of row."""

from guardrails.admin.approvals import approvals, holds, undo
from guardrails.admin.comply import recipients
from guardrails.admin.learn import patterns, skills
from guardrails.admin.policies import (
    ceiling,
    mcp_servers,
    permissions,
    policy,
    switches,
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
