"""Conditions on how often."""
