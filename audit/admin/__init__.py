"""The ledger for operators in the Django admin. Nothing can be changed there."""

from audit.admin import ledger, policy_versions

__all__ = ["ledger", "policy_versions"]
