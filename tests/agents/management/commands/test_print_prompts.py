"""What models are shown, on a page that review sees."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from agents.turns.roster import AGENTS


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
        assert all(f"### {tool.name} (" in page for tool in agent.tools)
    out = io.StringIO()
    call_command("print_prompts", stdout=out)
    assert out.getvalue().rstrip() == page.rstrip()
    (tmp_path / "docs/prompts.md").write_text(page.replace("never guess", "guess"))
    with pytest.raises(CommandError, match="out of date"):
        call_command("print_prompts", check=True)
