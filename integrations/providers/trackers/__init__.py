"""What all issue trackers of people's own have in common: requests in one user's name, writes that
are done once although the tracker keeps no keys, and looking for what is new. No provider."""
