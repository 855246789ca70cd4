import re
from functools import partial
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import resolve

from scripts import references, room_graph

MODULE = """LIMIT = 3


class Door:
    key: str = ""

    def open(self) -> None: ...
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with `audit/door.py` and `audit/moved.py`."""
    (tmp_path / "audit").mkdir()
    (tmp_path / "audit" / "door.py").write_text(MODULE)
    (tmp_path / "audit" / "moved.py").write_text("def find() -> None: ...\n")
    monkeypatch.setattr(references, "PROJECT", tmp_path)
    return tmp_path


def wrong(project: Path, text: str) -> list[str]:
    page = project / "PAGE.md"
    page.write_text(text)
    return list(references.find_wrong(page))


@pytest.mark.parametrize(
    "text",
    [
        "`audit/door.py:1` `LIMIT`",
        "`audit/door.py:4` `Door`",
        "`audit/door.py:5` `Door.key`",
        "`audit/door.py:7` `Door.open`",
        "`audit/door.py` and `audit/`, and `other/place.py`, which is not ours",
        "[the door](audit/door.py), [elsewhere](https://example.org/door.py)",
        "# The `door`, above\n\n[above](#the-door-above) and [here](PAGE.md#the-door-above)",
    ],
)
def test_what_is_so_is_not_complained_about(project: Path, text: str) -> None:
    assert wrong(project, text) == []


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("`audit/door.py:2` `LIMIT`", "is at audit/door.py:1"),
        ("`audit/door.py:1` `find`", "is at audit/moved.py:1"),
        ("`audit/gone.py:1` `LIMIT`", "is at audit/door.py:1"),
        ("`audit/door.py:1` `nothing`", "nothing of this name is there"),
        ("`audit/gone.py`", "does not exist"),
        ("[the door](audit/gone.py)", "leads nowhere"),
        ("[above](#above)", "PAGE.md has no heading for #above"),
        ("# Above\n\n[below](PAGE.md#below)", "PAGE.md has no heading for #below"),
    ],
)
def test_what_is_not_so_is_named(project: Path, text: str, part: str) -> None:
    [sentence] = wrong(project, text)

    assert part in sentence


def test_references_follow_what_moved_and_stay_where_nothing_is_found(project: Path) -> None:
    page = project / "PAGE.md"
    page.write_text("`audit/door.py:9` `find`, `audit/door.py:9` `Door`, `audit/door.py:9` `gone`")

    references.rewrite(page)

    assert page.read_text() == (
        "`audit/moved.py:1` `find`, `audit/door.py:4` `Door`, `audit/door.py:9` `gone`"
    )


LINE = "| A-1 | Opens | `tests/test_door.py:1` `test_it_opens` | the door |\n"


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (LINE, []),
        ("| A-1 | Opens | not yet: a door | nowhere |\n", []),
        ("", ["A-1 has 0 lines instead of one."]),
        (LINE * 2, ["A-1 has 2 lines instead of one."]),
        (
            LINE.replace("`tests", "`tests/test_door.py` `test_it_shuts`, `tests"),
            ["A-1 names a test without its file and line."],
        ),
        (LINE + LINE.replace("A-1", "A-2"), ["A-2 is no requirement."]),
        (LINE.replace("`", ""), ["A-1 has no test. Name one, or say “not yet: …”."]),
        (
            LINE.replace("tests/", "audit/"),
            ["A-1: test_it_opens in audit/test_door.py is no test."],
        ),
        (
            LINE.replace("the door", ""),
            ["A-1 does not say what it is or where it is seen."],
        ),
    ],
)
def test_a_requirement_has_one_line_with_a_test_and_a_place(
    monkeypatch: pytest.MonkeyPatch, text: str, sentences: list[str]
) -> None:
    monkeypatch.setattr(references, "FAMILIES", {"A": 1})

    assert list(references.find_unproven(text)) == [
        f"{references.CONFORMANCE}: {sentence}" for sentence in sentences
    ]


def test_a_threat_has_a_test_or_a_sentence_why_there_is_none() -> None:
    def said(*rows: str) -> list[str]:
        found = references.find_untried("\n".join(["# Threats", *rows, ""]))
        return [line.removeprefix("docs/threat-model.md: ") for line in found]

    test = "`tests/audit/test_door.py:1` `test_a_door`"
    assert said(f"| T-1 | a | b | {test} |", "| T-2 | a | — | not covered: c |") == []
    assert said("| T-1 | a | b | none |") == ["T-1 has no test. Name one, or say “not covered: …”."]
    assert said("| T-1 | a | b | `audit/door.py:1` `Door` |") == [
        "T-1: Door in audit/door.py is no test."
    ]
    numbers = "its rows are not numbered from T-1 on, one by one, in four columns."
    assert said(f"| T-2 | a | b | {test} |") == [numbers]
    assert said(f"| T-1 | a | b | {test} |", f"| T-2 | a | {test} |") == [numbers]


@pytest.mark.parametrize(
    ("claim", "said"),
    [
        (references.CLAIM, "- **It acts.** So.\n- **It asks**, too.\n"),
        (references.SECTION, "## It acts\n\n- **So.**\n\n## What was tried\n\n## It asks\n"),
    ],
)
@pytest.mark.parametrize("tried", ["`test_asks`", "also late | `make bench NAME=ask`"])
def test_a_page_shows_each_of_its_claims(claim: re.Pattern[str], said: str, tried: str) -> None:
    find = partial(references.find_unshown, page=Path("docs/using.md"), claim=claim)
    acts = said + references.SHOWN_BY + "| It acts | `test_acts` |\n"
    sentence = "docs/using.md: “Shown by” has no test or command for each of: It acts, It asks."

    assert list(find(said)) == [sentence]
    assert list(find(acts)) == [sentence]
    assert list(find(acts + "| It asks | a promise |\n")) == [sentence]
    assert list(find(acts + f"| It asks | {tried} |\n")) == []


def test_every_command_and_benchmark_that_a_page_names_is_there() -> None:
    texts = [page.read_text(encoding="utf-8") for page in references.list_pages()]
    commands = {name for text in texts for name in re.findall(r"\bmanage\.py ([a-z]\w+)", text)}
    benchmarks = {name for text in texts for name in re.findall(r"\bbench NAME=(\w+)", text)}
    there = {path.stem for path in (room_graph.PROJECT / "benchmarks").glob("*.py")}

    assert commands - get_commands().keys() == set()
    assert benchmarks - there == set()
    assert len(commands) > 20
    assert len(benchmarks) > 10


def test_the_places_of_requirements_are_there() -> None:
    text = (room_graph.PROJECT / references.CONFORMANCE).read_text(encoding="utf-8")
    commands = set(re.findall(r"`manage\.py (\w+)", text))
    addresses = set(re.findall(r"`(?:GET |POST )?(/[\w/-]+)`", text))

    assert commands - get_commands().keys() == set()
    assert len(addresses) > 40
    for address in addresses:
        assert "<url>" not in resolve(address).route, address  # what the admin answers with 404
