"""The ledger's tables. Made by SQL (audit/migrations) and only ever inserted into.

`managed = False` keeps Django's schema editor and the flush between tests away from them.
Rows come into being by `audit.ledger.ledger.append` alone; the database refuses changes too.
"""

from audit.models.actions import (
    ENVELOPE,
    SUPPLIED,
    ActionArtifact,
    ExecutedAgentAction,
    LedgerPayload,
    envelope,
)
from audit.models.base import AppendOnly, choices
from audit.models.policies import LedgerPolicy
from audit.models.saved_filters import SavedFilter
from audit.models.seals import Anchor, AnchorToken, Checkpoint, Leaf, SigningKey

__all__ = [
    "ENVELOPE",
    "SUPPLIED",
    "ActionArtifact",
    "Anchor",
    "AnchorToken",
    "AppendOnly",
    "Checkpoint",
    "ExecutedAgentAction",
    "Leaf",
    "LedgerPayload",
    "LedgerPolicy",
    "SavedFilter",
    "SigningKey",
    "choices",
    "envelope",
]
