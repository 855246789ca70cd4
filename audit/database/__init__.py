"""What the database must be for the ledger to hold: roles, triggers and its clock. A process that
finds it otherwise does not start."""
