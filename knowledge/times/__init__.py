"""When events take place, and which span of time a search means. Pure."""
