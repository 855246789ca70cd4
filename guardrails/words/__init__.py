"""What a person's words say: which of them are theirs, and which times, numbers and objects they
mean. Knows no policy and no request. Pure: it never raises, and takes time in proportion."""
