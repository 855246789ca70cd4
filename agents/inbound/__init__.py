"""What arrives: from an accepted delivery to what was done about it."""
