"""Plans: goals and steps as a value, as rows, and as models and people read them."""
