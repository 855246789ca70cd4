"""What agents may know: search over the items of some accounts, inside their walls."""
