"""Whether a value stands in the words that somebody typed, as a whole. Pure."""

import re
from bisect import bisect
from collections.abc import Iterator
from functools import lru_cache

OPENING = frozenset("<([{\"'“‘„‚«»‹›,;:=")  # noqa: RUF001
CLOSING = frozenset(">)]}\"'”’“‘»«›‹,;:!?")  # noqa: RUF001
QUOTES = ("“”", "„“", "«»", "»«", "‘’", "‚‘", '""', "''", "``")  # noqa: RUF001
BLANKS = ("", " ", "\u00a0", "\u202f")  # between a French mark and what it quotes
RUN = re.compile(r"\S+")
# What is somebody else's text, or the title of something: quotations and code. One that nobody
# closed goes on to the end; single marks that nobody closed are apostrophes.
QUOTED = re.compile(
    r"“[^”“]*(?:[”“]|\Z)|„[^“”]*(?:[“”]|\Z)|«[^»]*(?:»|\Z)|»[^«\n]{0,500}«|「[^」]*(?:」|\Z)"
    r"|(?<![\w\"])\"[^\"]*(?:\"|\Z)|(?<!\w)`[^`]*(?:`|\Z)|‹[^›]*(?:›|\Z)"  # noqa: RUF001
    r"|‘[^’\n]{0,500}’(?!\w)|(?<!\w)'[^'\n]{0,500}'(?!\w)|<[^>\n]{0,500}>"  # noqa: RUF001
)
DOMAIN = re.compile(r"@[^\s@<>()\[\],;:\"']+")


def typed(value: str, words: str) -> bool:
    """Whether the user typed exactly this value, as a whole token. `bob@a.com` is not typed
    in `bob@a.com.evil.com`, nor in `notbob@a.com`, nor within a web address."""
    start = words.find(value) if value else -1
    while start >= 0:
        end = start + len(value)
        if _opens(words, start) and _closes(words, end) and not _in_link(words, start, end):
            return True
        start = words.find(value, start + 1)
    return False


def with_small_domains(words: str) -> str:
    """The words with the domain of each address in small letters, as plain addresses have it."""
    return DOMAIN.sub(lambda found: found[0].lower(), words)


def named(title: str, words: str) -> bool:
    """Whether the user typed exactly this title. A title of one or two words counts only in
    quotation marks: somebody who calls something “the report” would be named by chance."""
    whole = len(title.split()) >= 3 or any(
        f"{pair[0]}{blank}{title}{blank}{pair[1]}" in words
        for pair in QUOTES
        for blank in (BLANKS if pair == "«»" else ("",))
    )
    return whole and typed(title, words)


def without_links(words: str) -> str:
    """The words with a mark for each character of a web address."""
    characters = list(words)
    for start, end in _links(words):
        characters[start:end] = "_" * (end - start)
    return "".join(characters)


def spoken(words: str) -> str:
    """What of the words says something in the user's own voice: not what stands in a web address,
    a quotation or code. The marks around those stay."""
    return QUOTED.sub(lambda found: found[0][0] + found[0][-1], without_links(words))


def _opens(words: str, start: int) -> bool:
    return start == 0 or words[start - 1].isspace() or words[start - 1] in OPENING


def _closes(words: str, end: int) -> bool:
    # A full stop ends a sentence only when nothing follows it.
    if words[end : end + 1] == ".":
        return end + 1 == len(words) or words[end + 1].isspace()
    return end == len(words) or words[end].isspace() or words[end] in CLOSING


def _in_link(words: str, start: int, end: int) -> bool:
    """Whether the place is a part of a web address, and not the whole of it."""
    links = _links(words)
    for at in {bisect(links, (one, len(words))) - 1 for one in (start, end - 1)}:
        first, last = links[at] if at >= 0 else (0, 0)
        if start < last and first < end and not (start <= first and last <= end):
            return True
    return False


@lru_cache(maxsize=4)
def _links(words: str) -> tuple[tuple[int, int], ...]:
    return tuple(_find_links(words))


def _find_links(words: str) -> Iterator[tuple[int, int]]:
    for found in RUN.finditer(words):
        run = found[0]
        if not ("/" in run or "www." in run or "mailto:" in run or ("?" in run and "=" in run)):
            continue
        start, end = found.span()
        while start < end and words[start] in OPENING:
            start += 1
        while end > start and (words[end - 1] in CLOSING or words[end - 1] == "."):
            end -= 1
        inner = words[start:end]
        if "://" in inner or inner.startswith(("www.", "mailto:")) or "." in inner:
            yield start, end
