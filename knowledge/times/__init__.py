"""When events take place, in every time zone. Pure."""
