"""Actions on mail."""
