"""Chat turns from the message to the answer: opened, claimed, run step by step, stopped,
streamed."""
