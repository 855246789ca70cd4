"""People's own mailboxes: read and changed over IMAP (RFC 9051 and 3501), sent from over SMTP
submission (RFC 6409)."""
