"""People's own mailboxes at Gmail, over its REST API: read, changed, sent from, and asked for what
is new. Signed in at Google's own page."""
