"""A person's word: cards, deadlines, handing on, and what follows from a decision."""
