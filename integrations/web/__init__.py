"""What comes in over HTTP: who calls, webhooks, and what admin pages and API bodies have in
common."""
