"""What a model thinks aloud between tags before its answer, apart from the answer. Pure.

Endpoints that know of reasoning send it in a field of its own; others leave it in the text.
"""

import re

NAMES = ("think", "thinking", "reasoning")
OPENS = tuple(f"<{name}>" for name in NAMES)
CLOSES = tuple(f"</{name}>" for name in NAMES)
MOST_BLANKS = 1_000  # before a thought
_CLOSE = re.compile("|".join(CLOSES))
_OPEN = re.compile(rf"\s*(?:{'|'.join(OPENS)})")


def split(text: str) -> tuple[str, str]:
    """Thought and answer. The opening tag may be the prompt's own and missing here; what is never
    closed is all thought."""
    opened, closed = _OPEN.match(text), _CLOSE.search(text)
    if closed is None:
        return (text[opened.end() :], "") if opened else ("", text)
    start = opened.end() if opened else 0
    if not opened and "<" in text[: closed.start()]:  # more than a thought: a page, or code
        return "", text
    return text[start : closed.start()], text[closed.end() :].lstrip()


class Splitter:
    """The same of a text that is still being written, piece by piece."""

    def __init__(self) -> None:
        self._waiting = ""
        self._inside: bool | None = None  # of the thought; None: not known yet
        self.found_none = True

    def feed(self, text: str) -> tuple[str, str]:
        """What this piece adds to the thought and to the answer."""
        if self._inside is False:
            return "", text
        self._waiting += text
        if self._inside is None and not self._begin():
            return "", ""
        if not self._inside:
            return "", self._take(len(self._waiting))
        return self._think()

    def rest(self) -> tuple[str, str]:
        """What was held back when the text has ended."""
        left = self._take(len(self._waiting))
        return (left, "") if self._inside else ("", left)

    def _begin(self) -> bool:
        """Whether it is known by now if the text begins with a thought."""
        written = self._waiting.lstrip()
        if opened := _OPEN.match(self._waiting):
            self._inside, self.found_none = True, False
            self._take(opened.end())
            return True
        if len(self._waiting) <= MOST_BLANKS and any(tag.startswith(written) for tag in OPENS):
            return False
        self._inside = False
        return True

    def _think(self) -> tuple[str, str]:
        if closed := _CLOSE.search(self._waiting):
            thought = self._take(closed.start())
            self._take(closed.end() - closed.start())
            said = self._take(len(self._waiting)).lstrip()
            # Blank lines behind the tag may come later: they are dropped by `split` alone.
            self._inside = False
            return thought, said
        held = max(
            (n for tag in CLOSES for n in range(1, len(tag)) if self._waiting.endswith(tag[:n])),
            default=0,
        )
        return self._take(len(self._waiting) - held), ""

    def _take(self, length: int) -> str:
        taken, self._waiting = self._waiting[:length], self._waiting[length:]
        return taken
