from scripts import rooms
from scripts.room_graph import Figures, Rooms


def test_the_picture_has_every_room_and_the_arrows_between_them() -> None:
    picture = rooms.draw(Rooms("house", {"roof": frozenset({"walls"}), "walls": frozenset()}))

    assert picture.splitlines() == [
        "```mermaid",
        "flowchart TD",
        "    roof_[roof]",
        "    roof_ --> walls_",
        "    walls_[walls]",
        "```",
    ]


def test_a_room_of_commands_lists_them() -> None:
    assert "`verify_ledger`" in rooms.find_charter("audit", "management")


def test_before_and_after_stand_side_by_side_with_their_sums() -> None:
    before = {"agents": Figures(10, 1, 4, 30, 500), "audit": Figures(5, 0, 3, 9, 100)}
    after = {"agents": Figures(2, 9, 3, 20, 450), "audit": Figures(1, 4, 2, 5, 90)}

    table = rooms.compare(before, after).splitlines()

    assert table[2] == "| agents | 10 | 2 | 1 | 9 | 4 | 3 | 30 | 20 | 500 | 450 |"
    assert table[-1] == "| all | 15 | 3 | 1 | 13 |  |  | 39 | 25 | 600 | 540 |"
