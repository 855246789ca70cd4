"""People's own mailboxes at Microsoft 365 and Outlook.com, over Microsoft Graph: read,
changed, sent from, and asked for what is new. Signed in at Microsoft's own page."""
