"""Everything that goes out over HTTP: the one client, its retries, pace and circuit breaker, and
signed messages; and what DNS says of the servers of a domain."""
