"""The ledger for operators in the Django admin. Nothing can be changed there."""
