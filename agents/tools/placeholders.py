"""Blanks that a model leaves in a mail where it does not know something: “[Your Name]”. Pure.

Only what begins like one counts: people write much else between brackets.
"""

import re
from collections.abc import Mapping
from typing import Any

from agents.contracts import ToolResult, failure
from guardrails.actions.registry import BY_NAME

# The text of a link is none.
_BLANK = re.compile(r"\[[^\[\]\n]{2,40}\](?!\()|\{\{[^{}\n]{2,40}\}\}")
_BEGINS = re.compile(
    r"\W*(?:(?:your|my|sender'?s?|insert|enter|add|recipient'?s?|ihr|ihre|ihren|dein|deine|deinen"
    r"|mein|meine|votre|vos|mon|ma|tu|su|mi|il tuo|il suo|il mio|la tua|la sua|ins[eé]r[a-zé]*"
    r"|indiquer|indicare|indicar|hier|ici|qui|aquí)[\s_-]\S|(?:full |first |last |vor|nach)?"
    r"(?:name|nom|nombre|nome|company|firma|date|datum|fecha|data|time|uhrzeit|heure|hora|ora"
    r"|position|title|signature|unterschrift|phone(?: number)?|telefon(?:nummer)?|tbd|x{2,})\W*$)",
    re.IGNORECASE,
)
_OWN_NAME = re.compile(
    r"\W*(?:your|my|sender'?s?|ihr|dein|mein|votre|mon|tu|su|mi|il tuo|il suo|il mio)[\s_-]+"
    r"(?:(?:full|first)[\s_-]+)?(?:name|nom|nombre|nome)\W*",
    re.IGNORECASE,
)


def find(text: str, *, typed: str = "") -> list[str]:
    """The blanks of a text, in order; not those that the user typed."""
    found = dict.fromkeys(_BLANK.findall(text))
    return [one for one in found if _BEGINS.match(one) and one not in typed]


def put_in_name(text: str, name: str) -> str:
    """The text with the user's name where a blank stands for it."""
    return _BLANK.sub(lambda found: name if _OWN_NAME.fullmatch(found[0]) else found[0], text)


def refuse(action_type: str, params: Mapping[str, Any], *, typed: str) -> ToolResult | None:
    """The result that says which blanks the texts of a mail still have; None where it has none, or
    is no mail."""
    action = BY_NAME.get(action_type)
    if action is None or action.kind != "mail":
        return None
    texts = {name: value for name, value in params.items() if isinstance(value, str)}
    for name, value in texts.items():
        left = find(value, typed=typed) if action.classes.get(name) == "text" else []
        if left:
            return failure(
                "INVALID_INPUT",
                f"`{name}` still has a blank: {', '.join(left)}.",
                recoverable=True,
                suggested_action="Write what stands there; [user] has the user's name. Leave out "
                "what nobody has said.",
            )
    return None
