"""A text into overlapping passages that an embedding model can take. Pure."""

import re

MAX_WORDS = 600
OVERLAP_WORDS = 100
# No tokeniser makes more tokens than bytes, and embedding models take about 8,000 tokens.
MAX_BYTES = 7_000
OVERLAP_BYTES = 1_000

# A run of letters without blanks (base64, Chinese) is cut, or it would fit in no passage.
_WORD = re.compile(r"\S{1,100}")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
TITLE_CHARS = 150
EMBEDDED_AT_ONCE = 64


def chunk(text: str) -> tuple[str, ...]:
    """The passages of `text` in order; none for a text without any word.

    Every passage is a piece of `text` with at most 600 words and 7,000 bytes, and every word
    is in at least one. A passage ends with a paragraph where it can; a paragraph that is too
    long is cut between words. A passage begins with up to 100 words of the one before it.
    """
    return tuple(text[start:end] for start, end in spans(text))


def spans(text: str) -> list[tuple[int, int]]:
    """Where in `text` its passages are."""
    words = [match.span() for match in _WORD.finditer(text)]
    found: list[tuple[int, int]] = []
    first = covered = 0  # words from `first`, of which those before `covered` are overlap
    while covered < len(words):
        end = _end(text, words, first=first, covered=covered)
        found.append((words[first][0], words[end - 1][1]))
        covered = end
        first = _overlap(text, words, passage=first, end=end)
    return found


def _end(text: str, words: list[tuple[int, int]], *, first: int, covered: int) -> int:
    """The word after the passage that starts at `first`; more than `covered`."""
    start = words[first][0]
    size = 0
    position = start
    paragraph_end = 0
    for index in range(first, min(first + MAX_WORDS, len(words))):
        if index > covered and _PARAGRAPH_END.search(text, position, words[index][0]):
            paragraph_end = index
        size += len(text[position : words[index][1]].encode())
        position = words[index][1]
        if size > MAX_BYTES and index > covered:
            return paragraph_end or index
    if first + MAX_WORDS >= len(words):
        return len(words)
    if _PARAGRAPH_END.search(text, position, words[first + MAX_WORDS][0]):
        return first + MAX_WORDS
    return paragraph_end or first + MAX_WORDS


def _overlap(text: str, words: list[tuple[int, int]], *, passage: int, end: int) -> int:
    """Where the next passage begins: up to 100 words before `end`, inside this passage."""
    first = end
    last = words[min(end, len(words) - 1)][1]
    while (
        first - 1 > passage
        and end - first < OVERLAP_WORDS
        and len(text[words[first - 1][0] : last].encode()) <= OVERLAP_BYTES
    ):
        first -= 1
    return first


def embedded_text(title: str, text: str) -> str:
    """What is embedded of one passage of an item with this title."""
    title = title[:TITLE_CHARS]
    return f"{title}\n\n{text}" if title and text != title else text
