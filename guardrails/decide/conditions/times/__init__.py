"""Conditions on when."""
