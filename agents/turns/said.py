"""What a model has said so far in a turn, as the HTML that pages show while it is written.

There is one renderer, the one of answers: what is streamed looks as it will when it is whole.
"""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from agents.answer import rich_text

SAID, TAKEN_BACK, CALLED = "text.delta", "text.restarted", "tool.started"
Event = tuple[int, str, dict[str, Any]]  # its number, type and data


class SaidSoFar:
    """Follows the events of one turn, from its first. The text of a step stays when it calls a
    tool, and is taken back when the step begins again."""

    def __init__(self, turn_id: UUID) -> None:
        self._turn_id = turn_id
        self._stays = self._text = ""

    def follow(self, events: Iterable[Event]) -> list[Event]:
        """These events, the next of the turn. The last that is about text has all that was said
        up to there as `html`: what comes at once is rendered once."""
        found = list(events)
        last = -1
        for at, (_, type, data) in enumerate(found):
            if type == SAID:
                self._text += str(data.get("text", ""))
            elif type == TAKEN_BACK:
                self._text = self._stays
            elif type == CALLED and self._text:
                self._stays = self._text = f"{self._text.rstrip()}\n\n"
            last = at if type in (SAID, TAKEN_BACK) else last
        if last >= 0:
            number, type, data = found[last]
            html = rich_text.render_answer(self._text, turn_id=self._turn_id)
            found[last] = (number, type, {**data, "html": html})
        return found
