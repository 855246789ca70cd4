"""Conditions on the object and the request themselves."""
