"""The rules, one small pure function each, in files by the agent that they answer for."""
