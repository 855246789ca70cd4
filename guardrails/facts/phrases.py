"""Lines of Remit's own, in English, that remember how they were made. Pure.

What is decided, stored and proved is the English line, which is text like any other. A card says
the same line in the language of who reads it (`guardrails.approve.speaking`): that takes its
template and what was put into it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Self


class Phrase(str):
    """An English line with its template, as `%(name)s`, and its values; a value may be one, too."""

    template: str
    values: Mapping[str, str]

    def __new__(cls, line: str, template: str, values: Mapping[str, str]) -> Self:
        new = super().__new__(cls, line)
        new.template, new.values = template, values
        return new

    def __getnewargs__(self) -> tuple[Any, ...]:
        return str(self), self.template, self.values

    def plain(self) -> dict[str, Any]:
        """How it was made, as JSON."""
        values = {
            name: value.plain() if isinstance(value, Phrase) else value
            for name, value in self.values.items()
        }
        return {"template": self.template, "values": values}


def phrase(template: str, **values: object) -> Phrase:
    """The template filled in. What is no text is written as Python writes it."""
    texts = {name: one if isinstance(one, str) else str(one) for name, one in values.items()}
    return Phrase(template % texts, template, texts)


def joined(lines: Iterable[str], *, by: str = ", ") -> str:
    """Several lines as one, in the given order."""
    parts = {f"n{number}": line for number, line in enumerate(lines)}
    return phrase(by.join(f"%({name})s" for name in parts), **parts)


def wordings(lines: Iterable[str]) -> dict[str, dict[str, Any]]:
    """How those of the lines were made that remember it, by line."""
    return {str(line): line.plain() for line in lines if isinstance(line, Phrase)}
