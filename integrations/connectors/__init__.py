"""What each kind of account can do: one file each."""
