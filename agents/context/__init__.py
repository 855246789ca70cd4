"""What a model is shown: prompts, results, summaries, cut to what fits, strangers' text fenced."""
