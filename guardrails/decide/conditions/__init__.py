"""What an allowed action or the ceiling may demand beyond its action and targets: one file for each
kind, listed in `vocabulary`. The decision itself knows `base` alone."""
