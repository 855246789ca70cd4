"""What mailboxes have in common whose server keeps each mail under one id and knows how all of them
have changed. No provider."""
