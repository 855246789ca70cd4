"""People's own files at Microsoft (OneDrive), over Microsoft Graph: read, watched, written to.
Signed in at Microsoft's own page."""
