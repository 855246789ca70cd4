"""Conditions on what is sent or written."""
