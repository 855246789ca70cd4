"""Actions on issues."""
