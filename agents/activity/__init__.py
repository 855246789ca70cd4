"""What came and what became of it, one row each: the first page of the admin, and users' days."""
