"""Who keeps the data: one room for each provider, with its `reader` and, where it can be written
to, its `writer`. A new one is a room here, what it declares in `integrations.registry`, and a line
each in `integrations.reads` and `integrations.writes`."""
