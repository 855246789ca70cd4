"""The provider's history held against the ledger, account by account."""
