"""Learned patterns and skills: proposed, approved by a person, measured, suspended."""
