"""Policies around the decision: their history, files, words, contradictions, drafts and trials."""
