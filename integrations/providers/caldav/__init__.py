"""Somebody's own calendars on a server that speaks CalDAV (RFC 4791): found, read, watched, written
to."""
