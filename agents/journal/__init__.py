"""A turn as rows: the right to write it, what is written step by step, and which step comes
next."""
