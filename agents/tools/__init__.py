"""What agents can call: one file each, and one dispatcher. Whatever acts goes through the
executor."""
