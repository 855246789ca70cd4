"""Tools of MCP servers as values. Pure.

What a server says about a tool is text that strangers wrote: it is compared, shown and checked,
and grants nothing.
"""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

NAME = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\Z")
MAX_NAME = 100
MAX_DESCRIPTION = 8_000
MAX_SCHEMA = 32_000
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


@dataclass(frozen=True, kw_only=True)
class OfferedTool:
    """One tool as its server describes it now."""

    name: str
    title: str = ""
    description: str = ""
    input_schema: Mapping[str, Any] = field(default_factory=dict)
    output_schema: Mapping[str, Any] | None = None
    hints: Mapping[str, Any] = field(default_factory=dict)

    def fingerprint(self, url: str) -> str:
        """Equal for the same tool at the same address, described in the same words."""
        said = [
            *(url, self.name, self.title, self.description),
            *(self.input_schema, self.output_schema, self.hints),
        ]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()

    @property
    def unusable(self) -> str:
        """Why nobody can be shown this tool as it is; empty: it can be enabled."""
        if len(self.description) > MAX_DESCRIPTION:
            return f"Its description is longer than {MAX_DESCRIPTION} characters."
        said = [self.input_schema, self.output_schema, self.hints]
        try:
            written = json.dumps(said, ensure_ascii=False, allow_nan=False)
        except ValueError:
            return "Its schema holds a number that cannot be kept."
        if len(written) > MAX_SCHEMA:
            return f"Its schema is longer than {MAX_SCHEMA} characters."
        # Not as written: JSON escapes what control characters there are.
        inside = "".join(_texts(said))
        for part, text in (("description", self.title + self.description), ("schema", inside)):
            hidden = next((sign for sign in text if _is_hidden(sign)), None)
            if hidden is not None:
                return f"Its {part} holds the hidden character U+{ord(hidden):04X}."
        if self.input_schema.get("type") != "object":
            return "Its arguments are no object."
        return ""


def is_plain(name: str) -> bool:
    """Whether a tool can have this name here: others can be taken for something else."""
    return len(name) <= MAX_NAME and NAME.match(name) is not None


def storable(text: str) -> str:
    """Without what a database cannot keep."""
    return "".join(
        "\ufffd" if sign == "\0" or "\ud800" <= sign <= "\udfff" else sign for sign in text
    )


def _texts(value: Any) -> Iterator[str]:
    """Every text in a value of JSON, names among them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _is_hidden(sign: str) -> bool:
    return unicodedata.category(sign) in HIDDEN and sign not in "\n\r\t"
