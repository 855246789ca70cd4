"""The other side of the wire for demos and tests: a data service with an office in it, and a model
that answers by written rules. Programs of their own; no product code imports them."""
