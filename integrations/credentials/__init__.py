"""Secrets of people's accounts: sealed by the process that takes them in, opened only by processes
that call providers, and good for the one account they were sealed for."""
