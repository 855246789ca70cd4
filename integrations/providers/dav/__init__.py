"""What servers that speak WebDAV (RFC 4918) are asked, and what they answer: for calendars,
files and people alike."""
