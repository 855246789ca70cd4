"""Which files are plain text that Remit reads and adds to. Pure."""

MAX_TEXT_BYTES = 1_000_000
TEXT_TYPES = ("text/", "application/json", "application/xml")
TEXT_ENDINGS = (".txt", ".md", ".csv", ".tsv", ".rst", ".log", ".json", ".yaml", ".yml", ".xml")


def is_text(mime_type: str, name: str) -> bool:
    """Many servers give a wrong type, so the ending counts, too."""
    kind = mime_type.partition(";")[0].strip().lower()
    return kind.startswith(TEXT_TYPES) or name.lower().endswith(TEXT_ENDINGS)


def read_text(raw: bytes) -> str | None:
    """None for bytes that are no text in UTF-8."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
