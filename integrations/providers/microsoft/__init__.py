"""What all services of Microsoft Graph have in common: where their users sign in, and requests in
one user's name. No provider."""
