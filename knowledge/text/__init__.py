"""The words of an item: made from its object, without quoted parts, in a recognised language, and
as full text search keeps them. Pure."""
