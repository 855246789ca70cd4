"""The words of an item: its object into text, quotes left out, language told, and as full text
search keeps them. Pure."""
