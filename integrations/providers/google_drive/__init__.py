"""People's own files at Google Drive, over its REST API: read and watched, never written to. Signed
in at Google's own page."""
