"""What models are shown, on a page that review sees."""

import ast
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.turns.roster import AGENTS, CUSTOM_TOOLS

PROJECT = Path(__file__).resolve().parents[4]
PRODUCT = ("agents", "guardrails", "integrations", "knowledge")


def prompts() -> Iterator[tuple[str, str]]:
    """The first line of each constant of the product that speaks to a model, by its module."""
    for app in PRODUCT:
        for file in sorted((PROJECT / app).rglob("*.py")):
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                value = getattr(node, "value", None) if isinstance(node, ast.Assign) else None
                part = value.values[0] if isinstance(value, ast.JoinedStr) else value
                text = part.value if isinstance(part, ast.Constant) else None
                if isinstance(text, str) and "\n" in text and text.startswith(("You ", "Answer")):
                    yield str(file.relative_to(PROJECT)), text.splitlines()[0]


def test_every_prompt_and_tool_stands_on_the_page(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = tmp_path
    (tmp_path / "docs").mkdir()
    with pytest.raises(CommandError, match="out of date"):
        call_command("print_prompts", check=True)
    call_command("print_prompts", write=True)
    call_command("print_prompts", check=True)

    page = (tmp_path / "docs/prompts.md").read_text()
    for agent in AGENTS:
        assert agent.prompt in page
        assert all(f"### {tool.name} (" in page for tool in (*agent.tools, *CUSTOM_TOOLS))
    found = [*prompts()]
    assert len(found) >= 15
    assert [one for one in found if one[1] not in page] == []
    out = io.StringIO()
    call_command("print_prompts", stdout=out)
    assert out.getvalue().rstrip() == page.rstrip()
    (tmp_path / "docs/prompts.md").write_text(page.replace("never guess", "guess"))
    with pytest.raises(CommandError, match="out of date"):
        call_command("print_prompts", check=True)
