"""Issues at GitHub or a GitHub Enterprise Server of somebody's own, over its REST API with a token:
read, written to, and asked for what is new."""
