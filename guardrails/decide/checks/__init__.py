"""The longer checks of `guardrails.decide.policy`, in one file each."""
