"""Who keeps the data: one room for each provider, with its `reader` and, where it can be written
to, its `writer`; where people connect accounts of their own, its `connectable`. A new one is a room
here and what it declares in `integrations.ports.registry`, and nothing else."""
