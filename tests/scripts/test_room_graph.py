from graphlib import CycleError

import pytest

from scripts.room_graph import PROJECT, Rooms, count_lines, read_rooms

HOUSE = Rooms(
    "house",
    {
        "roof": frozenset({"walls", "ground"}),
        "walls": frozenset({"ground"}),
        "shed": frozenset({"ground"}),
        "ground": frozenset(),
    },
)


def test_a_room_stands_above_the_highest_that_it_imports() -> None:
    assert HOUSE.floors() == [["ground"], ["shed", "walls"], ["roof"]]
    assert HOUSE.arrows == 4


def test_an_arrow_that_follows_from_others_is_not_drawn() -> None:
    assert HOUSE.drawn() == {
        "ground": [],
        "roof": ["walls"],
        "shed": ["ground"],
        "walls": ["ground"],
    }


def test_rooms_in_a_circle_have_no_floors() -> None:
    circle = Rooms("house", {"a": frozenset({"b"}), "b": frozenset({"a"})})

    with pytest.raises(CycleError):
        circle.floors()


def test_the_rooms_are_those_that_the_imports_say() -> None:
    house, *apps = read_rooms()
    guardrails = next(rooms for rooms in apps if rooms.app == "guardrails")

    assert house.below["audit"] == frozenset()
    assert {"guardrails", "knowledge"} <= house.below["agents"]
    assert "decide" in guardrails.below["execute"]
    assert "execute" not in guardrails.below["decide"]
    assert not {"apps", "migrations"} & set(guardrails.below)


def test_lines_are_counted_in_every_python_file_below() -> None:
    files = (PROJECT / "scripts").glob("*.py")

    assert count_lines(PROJECT / "scripts") == sum(
        len(path.read_text(encoding="utf-8").splitlines()) for path in files
    )
