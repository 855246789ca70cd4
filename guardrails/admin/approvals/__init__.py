"""Approvals, held sends and undo for operators."""
