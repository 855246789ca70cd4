"""Allowed actions, ceilings, switches and MCP servers, with their trials and explanations."""
