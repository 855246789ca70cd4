"""How many tokens a text may be, where nobody has counted them."""

BYTES_IN_A_TOKEN = 3


def estimated_tokens(text: str) -> int:
    """A count that is rather too high for most texts; ids and numbers alone may be more."""
    return -(-len(text.encode()) // BYTES_IN_A_TOKEN)
