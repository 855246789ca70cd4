"""What the scripts of the console say, in the language of the page."""

import json
import re
from pathlib import Path

import pytest

from agents.office import console_words
from agents.turns import roster
from guardrails.actions.registry import BY_NAME
from integrations.web.languages import speaking

SCRIPTS = Path("templates/static/remit")
# gettext("…"), fill("…" and count(number, "…", "…"; a name that programs use is a variable there.
SAID = re.compile(r'\b(?:gettext|fill)\(\s*"([^"]+)"|\bcount\([^,"]+, "([^"]+)", "([^"]+)"')
IN_CHATS = (
    roster.ORCHESTRATOR,
    roster.EMAIL_SPECIALIST,
    roster.DOCUMENT_SPECIALIST,
    roster.TASK_SPECIALIST,
)


def test_pages_bring_along_what_their_scripts_say_and_nothing_else() -> None:
    said = {
        text
        for script in SCRIPTS.glob("*.js")
        for found in SAID.findall(script.read_text("utf-8"))
        for text in found
        if text
    }

    assert said == set(console_words.WORDS)


def test_what_agents_use_in_a_chat_has_a_name_for_people() -> None:
    tools = {name for agent in IN_CHATS for name in agent.toolbox}

    assert tools - set(BY_NAME) == set(console_words.TOOLS)
    assert {agent.name for agent in IN_CHATS} == set(console_words.AGENTS)


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("de", {"Finished.": "Fertig.", "caldav": "Kalender", "open_item": "Einen Eintrag öffnen"}),
        ("en", {"caldav": "Calendar", "open_item": "Open an item", "archive": "Archive a mail"}),
    ],
)
def test_they_are_in_the_language_that_is_spoken(language: str, said: dict[str, str]) -> None:
    with speaking(language):
        found = json.loads(console_words.render())

    assert {name: found[name] for name in said} == said
    assert ("Finished." in found) is (language != "en")  # what is the same in English is left out
