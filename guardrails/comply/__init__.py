"""What stands on ledger and provider both: reconciliation, incidents, health, replay, and
checkpoints that are given away or time stamped."""
