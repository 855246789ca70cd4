"""Actions on events."""
