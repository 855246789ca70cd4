"""What the records say, in each language that Remit speaks."""

import ast
import gettext
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from agents.activity import digests
from agents.answer import closing, records
from agents.api.mcp import door as mcp_door
from agents.context import prompts
from agents.inbound import taking_up
from agents.journal import suggestions, whom
from agents.journal.suggestions import State
from agents.models import Turn
from agents.office import console, console_words
from agents.turns import turns
from audit.formats.feed import AheadOfLedger
from config import door
from config.pages import passkey_forms
from config.rest import errors, refusals
from guardrails.actions.registry import BY_NAME
from guardrails.approve import cards, second_yes
from guardrails.execute.approval_requests import WAITS_ALREADY
from guardrails.facts.reasons import SENTENCES
from guardrails.models import AssistantDraft
from integrations.llm import metering
from integrations.models import Delivery
from integrations.ports.registry import source_choices
from integrations.providers.mcp.session import NotInstalled
from integrations.web import languages
from integrations.web.languages import LANGUAGES, speaking
from integrations.web.problems import PROBLEMS
from tests.guardrails.lines import on_cards, written_in

BLOCK = re.compile(r"{% blocktranslate [^%]*%}(.*?){% endblocktranslate %}")


def on_pages() -> Iterator[str]:
    """What templates of the console and of logging in say that are translated."""
    own = Path("templates/console").glob("*.html")
    for template in (*own, *map(Path("templates").joinpath, BESIDE)):
        text = template.read_text(encoding="utf-8")
        yield from re.findall(r'{% translate "([^"]*)" %}', text)
        yield from (re.sub(r"{{ (\w+) }}", r"%(\1)s", one) for one in BLOCK.findall(text))


BESIDE = (
    *("guardrails/stopped.html", "account/login.html", "allauth/layouts/base.html", "error.html"),
    *("429.html", "problems.html", "guardrails/beside.html"),
)
ACTIVITY = Path(digests.__file__).parent
ENDINGS = (Turn.Ending.ESCALATED, Turn.Ending.LIMIT, Turn.Ending.STOPPED)
TRANSLATED = [name for name in LANGUAGES if name != "en"]
# Every sentence of Remit's own that a user may read at a turn's end, on a card or about a day.
SENTENCES_SAID = {
    *on_cards(),
    *written_in(ACTIVITY),
    *written_in(Path(console.__file__).parent),
    *written_in(Path(languages.__file__).parent),
    *written_in(Path(errors.__file__).parent),
    *written_in(Path(passkey_forms.__file__).parent),
    *written_in(Path(door.__file__).parent),
    *(text for _, text in PROBLEMS.values()),
    *refusals.SENTENCES,
    *(*written_in(Path(mcp_door.__file__).parent), str(NotInstalled()), AheadOfLedger.template),
    "Passwordless",  # of django-allauth, which has no Spanish for it
    *on_pages(),
    *(*console_words.WORDS, *console_words.TOOLS.values(), *console_words.AGENTS.values()),
    *(label for _, label in source_choices()),
    *(label.lower() for label in Delivery.State.labels),
    *AssistantDraft.State.labels,
    *digests.TITLES.values(),
    *(*suggestions.ANSWERS.values(), *suggestions.VALUES.values(), suggestions.PROPOSING),
    *(*suggestions.LACKING.values(), suggestions.PRIORITY_NOW, suggestions.INVITED),
    *(suggestions.NEVER_WRITTEN, suggestions.COLLIDES, suggestions.NOTHING_ELSE, suggestions.FREE),
    *(suggestions.FREE_THEN, suggestions.ONLY_SAID),
    *(*taking_up.OVER.values(), taking_up.TAKEN_UP),
    *(one.label for one in State if one != State.OPEN),
    *(one.label for one in ENDINGS),
    *SENTENCES.values(),
    *(action.title for action in BY_NAME.values()),
    *records.STATUS_WORDS.values(),
    *(words for words, _ in records.COUNTED),
    *(records.CORRECTION, records.RECORD, records.NOTHING_DONE, records.MORE),
    *(records.NO_ACTION, records.ACTIONS, records.LATE, records.NOT_AS_SHOWN, records.BUTTONS),
    *(closing.EMPTY_SENTENCE, closing.CUT_SENTENCE),
    *prompts.LIMIT_SENTENCES.values(),
    *(prompts.ESCALATED_SENTENCE, turns.ERROR_SENTENCE, turns.REFUSED_SENTENCE),
    *(turns.BROKEN_SENTENCE, turns.NO_ACCOUNT_SENTENCE),
    *(metering.SENTENCE, WAITS_ALREADY, whom.QUESTION),
    *cards.WORDS.values(),
    *(cards.CONFIRMED, cards.CONFIRMED_IN_WORDS, cards.BY_PERSON, cards.BY_CLOCK),
    *(cards.BOTH, cards.YESES, cards.YES_OF),
    *(second_yes.UNKNOWN, second_yes.SAID_ALREADY, second_yes.NOT_THE_SECOND),
}


def action(type: str, status: str, sentence: str = "", **more: Any) -> dict[str, Any]:
    return {"type": type, "status": status, "sentence": sentence, "description": type, **more}


def catalogue(language: str) -> Path:
    return Path(settings.LOCALE_PATHS[0]) / language / "LC_MESSAGES" / "django.po"


def entries(source: Path) -> Iterator[tuple[str, str]]:
    """What a catalogue's source says. Each text of ours stands on one line."""
    text = source.read_text("utf-8")
    for said, translated in re.findall(r'^msgid (".*")\nmsgstr (".*")$', text, re.MULTILINE):
        if said != '""':
            yield ast.literal_eval(said), ast.literal_eval(translated)


@pytest.mark.parametrize("language", TRANSLATED)
def test_every_sentence_is_in_every_catalogue_and_nothing_else(language: str) -> None:
    found = dict(entries(catalogue(language)))

    assert SENTENCES_SAID - set(found) == set()
    assert set(found) - SENTENCES_SAID == set()
    places = re.compile(r"%(?:\(\w+\)[sd])?")
    assert [
        said
        for said, translated in found.items()
        if not translated or sorted(places.findall(said)) != sorted(places.findall(translated))
    ] == []


@pytest.mark.parametrize("language", TRANSLATED)
def test_the_compiled_catalogue_says_what_its_source_says(language: str) -> None:
    source = catalogue(language)
    with source.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)

    assert {said: compiled.gettext(said) for said, _ in entries(source)} == dict(entries(source))


def test_the_records_are_listed_item_by_item() -> None:
    actions = [
        action("archive", "succeeded", description="Archive: “A”"),
        action("draft", "refused", "No such\nreceiver.", description="Draft a reply"),
        action("send_email", "pending", "Confirm?", description="Send “B”"),
    ]

    assert records.render_correction(actions, contradicts=True) == (
        "Correction from the records:\n"
        "- Archive: “A”: done.\n"
        "- Draft a reply: refused, not done. No such receiver.\n"
        "- Send “B”: waits for a confirmation, not done."
    )
    assert records.render_correction([], contradicts=True) == (
        "Correction from the records: nothing was sent, created or changed in this turn."
    )
    many = records.render_correction([action("archive", "failed")] * 25, contradicts=False)
    assert many.endswith("- and 5 more")
    assert records.render_record(actions) == "Actions: 1 done, 1 waiting for a decision, 1 refused."
    assert records.render_record([]) == "No action was carried out."


def test_in_another_language_they_are_made_from_codes_and_parameters() -> None:
    refused = action(
        "create_jira_task",
        "refused",
        f"{SENTENCES['rate_exceeded']} 3 of 3 in 24 hours.",
        reason="rate_exceeded",
        description="Create: Rota",
        params={"summary": "Rota"},
    )
    archived = action("archive", "succeeded", description="Archive: “Lunch?”", params={})
    unknown = action("tool:x", "failed", "It broke.", description="Something else")

    with speaking("de-AT"):
        assert records.render_correction([refused, archived, unknown], contradicts=False) == (
            "Aus dem Protokoll:\n"
            "- Eine Jira-Aufgabe anlegen: “Rota”: abgelehnt, nicht erledigt. Das wurde so oft "
            "getan, wie es im Moment erlaubt ist. 3 of 3 in 24 hours.\n"
            "- Eine Mail archivieren: “Lunch?”: erledigt.\n"
            "- Something else: fehlgeschlagen, nicht erledigt. It broke."
        )
        assert records.render_record([refused, archived]) == "Aktionen: 1 erledigt, 1 abgelehnt."
    assert records.render_record([archived]) == "Actions: 1 done."


@pytest.mark.parametrize("language", ["nl", "xx", "zh-Hant-TW", ""])
def test_a_language_that_remit_does_not_speak_is_english(language: str) -> None:
    assert records.say("Done.", language=language) == "Done."


def test_only_decisions_that_came_too_late_are_listed_as_such() -> None:
    late = action("archive", "succeeded", late=True, handled="Confirmed by maya at 10:00 UTC")
    moved = action("draft", "pending", late=True, handled="")

    assert records.render_late([action("archive", "succeeded")]) == ""
    assert records.render_late([late, moved]) == (
        "What you decided came too late:\n"
        "- archive: done. Confirmed by maya at 10:00 UTC.\n"
        "- draft: waits for a confirmation, not done. Nothing was decided, because it was changed "
        "or handed on since it was shown. Look at it again."
    )
