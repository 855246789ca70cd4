"""People's own calendars at Microsoft 365 and Outlook.com, over Microsoft Graph: read, watched,
written to. Signed in at Microsoft's own page."""
