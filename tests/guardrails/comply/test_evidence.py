"""The map of evidence as pages show it."""

from pathlib import Path
from typing import Any

from guardrails.comply.evidence import load_map


def test_every_control_and_command_of_the_document_is_in_the_map_with_the_chosen_days() -> None:
    parts = load_map(since="2026-03-01", until="2026-04-01")

    text = Path("docs/evidence.md").read_text(encoding="utf-8")
    commands = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    days = ("2026-11-01", "2026-03-01"), ("2026-12-01", "2026-04-01")
    chosen = [one.replace(*days[0]).replace(*days[1]) for one in commands]
    assert [one for part in parts for one in part.commands] == chosen
    assert sum(len(part.rows) for part in parts) == text.count("\n| ") - len(parts)
    assert all(len(row) == 3 and part.commands for part in parts for row in part.rows)
    assert parts[0].rows[1] == (
        "DORA, Article 17 (incident management)",
        "when something was done or refused, for whom, and when it was stopped",
        "how the incident was classed and reported",
    )
    assert not any("](" in cell for part in parts for row in part.rows for cell in row)


def test_without_the_document_there_is_no_map(settings: Any, tmp_path: Path) -> None:
    settings.BASE_DIR = tmp_path
    assert load_map(since="2026-03-01", until="2026-04-01") == ()
