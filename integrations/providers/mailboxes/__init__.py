"""What mailboxes have in common, whatever their server speaks. No provider."""
