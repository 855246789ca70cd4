"""Does the ledger still say what was appended and sealed? Checks it, and remembers what was
found."""
