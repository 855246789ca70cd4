"""What repeats and what was corrected: evidence for patterns. It proposes and grants nothing."""
