"""How processes share the database: pooled connections, locks and notices."""
