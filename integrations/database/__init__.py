"""How processes share the database: pooled connections and notices."""
