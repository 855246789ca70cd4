"""What every connection and request passes before Django: deadlines, numbers, sizes, and a word to
come later when there is too much to do."""
