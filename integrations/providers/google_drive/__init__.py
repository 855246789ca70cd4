"""People's own files at Google Drive, over its REST API: read, watched, written to. Signed in at
Google's own page."""
