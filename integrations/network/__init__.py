"""Everything that goes out over HTTP: the one client, its retries, pace and circuit breaker, and
signed messages."""
