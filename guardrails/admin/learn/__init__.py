"""Patterns and skills for operators."""
