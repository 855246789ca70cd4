"""Tickets at a Request Tracker of somebody's own, over its REST API (version 2) with a token: read,
written to, and asked for what is new."""
