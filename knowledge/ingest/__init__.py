"""From a provider's object to what is stored and found: passages, vectors, entities, occurrences.
The only room that writes items."""
