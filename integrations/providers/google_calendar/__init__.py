"""People's own calendars at Google, over its REST API: read, watched, written to. Signed in at
Google's own page."""
