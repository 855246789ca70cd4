"""Admin of what agents may do, and the inbox of approvals: one file for each kind of row."""

from guardrails.admin.approvals import (
    approval_recipients,
    approvals,
    assistant_drafts,
    change_requests,
    held_sends,
    undo,
)
from guardrails.admin.comply import recipients
from guardrails.admin.learn import patterns, skills
from guardrails.admin.policies import (
    allowed_actions,
    ceiling,
    directory,
    mcp_servers,
    switches,
    targets,
)

__all__ = [
    "allowed_actions",
    "approval_recipients",
    "approvals",
    "assistant_drafts",
    "ceiling",
    "change_requests",
    "directory",
    "held_sends",
    "mcp_servers",
    "patterns",
    "recipients",
    "skills",
    "switches",
    "targets",
    "undo",
]
