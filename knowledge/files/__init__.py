"""The text of attachments and documents, read in a child process that can be killed."""
