"""How processes share the database: pooled connections, replicas, locks and notices."""
