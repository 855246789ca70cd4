"""Somebody's own files on a server that speaks WebDAV (RFC 4918): found, read, watched, written
to."""
