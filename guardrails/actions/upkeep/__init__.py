"""Actions by which Remit keeps an account at hand. For Remit itself alone."""
