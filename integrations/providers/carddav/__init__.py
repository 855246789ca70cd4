"""Somebody's own address books on a server that speaks CardDAV (RFC 6352): found, read and watched,
never written to. What they are for: `integrations.accounts.contacts`."""
