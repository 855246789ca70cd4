"""Conditions on whom an action reaches."""
