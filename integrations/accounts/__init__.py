"""What an account holds, at whichever provider keeps it: opened for reading, opened for writing by
the executor alone, and asked for what is new."""
