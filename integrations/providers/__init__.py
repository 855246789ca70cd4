"""Who keeps the data: one room for each provider, with its `reader` and, where it can be written
to, its `writer`. A new one is a room here, what it declares in `integrations.ports.registry`, and a
line each in `integrations.accounts.reads` and `integrations.accounts.writes`."""
