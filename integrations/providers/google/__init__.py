"""What all services of Google have in common: where their users sign in, and requests in one user's
name. No provider."""
