"""Gathers what a decision needs: facts from the provider, policy and counts from the database. It
decides nothing and changes nothing but its own counts."""
