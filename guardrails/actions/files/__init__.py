"""Actions on documents and folders."""
