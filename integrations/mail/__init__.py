"""Mail of strangers, taken apart: RFC 822 bytes in, clean values out. Pure."""
