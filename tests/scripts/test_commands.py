import shlex
import sys
from pathlib import Path

import pytest

from scripts import commands
from scripts.commands import Written
from scripts.room_graph import PROJECT


def test_every_command_of_the_pages_is_tried_or_left_out_with_a_reason() -> None:
    found = commands.find_all()
    tried = [one for one in found if one.find(commands.TRIED)]
    left_out = [one for one in found if one.find(commands.NOT_TRIED)]

    assert [one.plain for one in found if one not in tried and one not in left_out] == []
    assert len(tried) > 15
    # And nothing stands in a table that no page has any more.
    for table in (commands.TRIED, commands.NOT_TRIED):
        assert [name for name in table if not any(one.find([name]) for one in found)] == []


def test_commands_are_whole_lines_of_indented_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commands, "PROJECT", tmp_path)
    page = tmp_path / "PAGE.md"
    page.write_text(
        "make nothing\n\n    make run   # starts\n    curl -s a \\\n         -d b\n"
        "```\n    make fenced\n```\n    DATABASE_URL=<one of yours> manage.py restore x\n"
        "    .venv/bin/python manage.py verify_ledger\n    config    wires\n"
    )

    found = [(one.line, one.plain) for one in commands.find_commands(page)]

    assert found == [
        (3, "make run"),
        (4, "curl -s a -d b"),
        (9, "DATABASE_URL=<one of yours> manage.py restore x"),
        (10, "manage.py verify_ledger"),
    ]


def test_what_a_reader_puts_in_is_put_in(tmp_path: Path) -> None:
    house = commands.House(folder=tmp_path)
    house.note("The key is remit.example/ledger/default+0a1b2c3d+AbC=.")

    def asked(text: str) -> str:
        return house.prepare(Written(page="PAGE.md", line=1, text=text))

    assert asked("python verify.py november.zip remit.example/ledger/<o>+<k>[@time] [older.note …]")
    backup = shlex.split(asked("manage.py backup /backups/a.dump"))
    assert backup == [sys.executable, f"{PROJECT}/manage.py", "backup", "backups/a.dump"]
    assert f"127.0.0.1:{house.web}/ready" in asked("curl -s localhost:8000/ready")
