"""Past mail: tried without doing anything, or worked through, in runs that people can pause."""
