"""People's own mailboxes over JMAP (RFC 8620, 8621): reading, changing, sending, and what is new.
The user's app password or token is opened here and goes to the server that was named alone."""
