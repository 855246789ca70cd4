"""Conditions on who wrote the mail at hand."""
