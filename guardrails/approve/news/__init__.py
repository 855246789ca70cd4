"""News of approvals: who hears that something waits, when, in which form. It decides nothing."""
