"""What services have in common whose users sign in at the provider's own page: requests in one
user's name, what a credential keeps, and words of trials. No provider."""
