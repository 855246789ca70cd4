"""What Remit needs of providers: one protocol to read and one to write for each kind (mail, files,
calendar, issues, tools); messages are listed like all items and need no more. Readers and writers
are different things: code that handles model output can be given a reader and never has a way to a
write."""
