import re

import pytest

from scripts import words
from scripts.words import PROJECT, Found, allow, find, split_name


@pytest.mark.parametrize(
    ("path", "text", "found"),
    [
        ("guardrails/models/ceiling.py", "class CeilingRule:\n    pass\n", "CeilingRule"),
        ("guardrails/decide/case.py", "def find(rule: str) -> None: ...\n", "rule"),
        ("guardrails/rules.py", "", "rules"),
        ("guardrails/admin/pages.py", 'title = "Add a permission"\n', "permission"),
        ("guardrails/admin/pages.py", 'title = "Permission"\n', "Permission"),
        ("agents/tools/acting.py", "total = 1  # whoever asked\n", "whoever"),
        ("agents/tools/acting.py", '"""The mailbox\n\nis not to be had."""\n', "not to be had"),
        ("audit/keeping/erasure.py", "import holds as hold\n", "hold"),
        ("config/urls.py", 'path("api/v1/holds", view)\n', "api/v1/holds"),
        ("templates/guardrails/hold.html", "<p>It went out\nof the hold.</p>", "the hold"),
        ("docs/agents.md", "What a call brought forth", "brought forth"),
        ("tests/audit/test_tasks.py", "def test_whoever_asks() -> None: ...\n", "whoever"),
        ("integrations/network/gate.py", "turn = 1\n", "turn"),
        ("knowledge/search/retrieval.py", "shown = 1\n", "shown"),
    ],
)
def test_an_old_word_is_found(path: str, text: str, found: str) -> None:
    assert [one.word for one in find(path, text)] == [found]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("guardrails/decide/case.py", 'key = payload["permission"]\n'),  # a key is stored
        ("guardrails/models/base.py", "rows = Permission.objects.all()\n"),  # defined elsewhere
        ("guardrails/models/legal_holds.py", "legal_hold = 1\n"),
        ("audit/seals/anchors.py", "time_stamp = 'time stamps'\n"),
        ("knowledge/times/recurrence_rules.py", "rule = 'a recurrence rule'\n"),
        ("agents/journal/leases.py", "turn = 1\n"),
        (
            "templates/guardrails/choose.html",
            '<option value="permission">{{ permission }}</option>',
        ),
        ("tests/guardrails/test_api.py", "def test_a_condition_holds() -> None: ...\n"),
    ],
)
def test_other_words_are_left_alone(path: str, text: str) -> None:
    assert find(path, text) == []


def test_the_line_is_the_one_where_the_word_stands() -> None:
    assert [one.line for one in find("docs/agents.md", "one\ntwo whoever\n\nwhoever")] == [2, 4]
    assert [one.line for one in find("audit/a.py", 'x = """One\ntwo whoever"""\n')] == [2]


def test_an_exception_allows_its_word_at_its_place_alone() -> None:
    django = Found("guardrails/admin/base.py", 1, "has_add_permission", "allowed action")
    ours = Found("guardrails/admin/base.py", 2, "permission", "allowed action")

    left, unneeded = allow([django, ours])

    assert left == [ours]
    assert "*, has_*_permission" not in unneeded
    assert "*, permission_classes" in unneeded


def test_names_are_split_at_underscores_dashes_and_capitals() -> None:
    names = ("CeilingLimit", "CEILING_LIMIT", "ceiling-limit", "_ceiling_limit")

    assert {split_name(name) for name in names} == {"ceiling_limit"}


def test_the_glossary_has_at_most_sixty_words_and_those_that_the_check_recommends() -> None:
    rows = (PROJECT / "docs" / "glossary.md").read_text(encoding="utf-8")
    glossary = re.findall(r"^\| ([a-z ]+) \|", rows, re.MULTILINE)[1:]
    nouns = [old.new for old in words.OLD_WORDS if old.name and "verb" not in old.new]

    assert len(glossary) == len(set(glossary)) <= 60
    assert glossary == sorted(glossary)
    assert {word for new in nouns for word in re.split(", | or ", new)} <= set(glossary)
