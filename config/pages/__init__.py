"""What all pages share: what they may load, how they look, how they write times, and logging in."""
