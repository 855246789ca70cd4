"""What a decision may look at, as values: targets, texts, links, effects, counts. Pure."""
