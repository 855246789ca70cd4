"""Health, reconciliation, keeping and recipients for compliance officers."""
