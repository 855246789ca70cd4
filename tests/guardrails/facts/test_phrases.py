"""Lines that remember how they were made."""

import copy
import json
import pickle

from guardrails.facts.phrases import Phrase, joined, phrase, wordings
from guardrails.facts.text import visible

SENT = phrase("Send to %(who)s: %(what)s", who="ada@b.com", what=phrase("(no title)"))


def test_a_phrase_is_its_english_line_everywhere() -> None:
    assert SENT == "Send to ada@b.com: (no title)"
    assert json.dumps({"line": SENT}) == '{"line": "Send to ada@b.com: (no title)"}'
    assert hash(SENT) == hash(str(SENT))
    assert type(str(SENT)) is str


def test_it_remembers_its_template_and_values_wherever_it_is_copied() -> None:
    said = {
        "template": "Send to %(who)s: %(what)s",
        "values": {"who": "ada@b.com", "what": {"template": "(no title)", "values": {}}},
    }
    for one in (SENT, copy.deepcopy(SENT), pickle.loads(pickle.dumps(SENT)), visible(SENT)):
        assert isinstance(one, Phrase)
        assert one.plain() == said
    hidden = phrase("To %(who)s", who="a\u200bb")
    assert type(visible(hidden)) is str, "what must be shown otherwise is another line"


def test_a_value_is_never_a_template() -> None:
    hostile = "100% %(who)s %s {who}"
    assert phrase("Called %(name)s", name=hostile) == f"Called {hostile}"
    assert joined([phrase("a"), hostile]) == f"a, {hostile}"


def test_only_lines_of_remits_own_have_a_wording() -> None:
    assert wordings([SENT, "Somebody's words", phrase("Done")]) == {
        "Send to ada@b.com: (no title)": SENT.plain(),
        "Done": {"template": "Done", "values": {}},
    }
