"""What the ledger needs of the database: roles, triggers and its clock. A process that
finds it otherwise does not start."""
