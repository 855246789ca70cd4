"""Issues at Jira Cloud or Jira Data Center of somebody's own, over REST with a token: read, written
to, and asked for what is new."""
