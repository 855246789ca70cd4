"""How dates and times are written, by language: where Django looks for them."""
