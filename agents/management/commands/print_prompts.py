"""Every prompt and tool schema as a model is shown it, with its size."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from agents.answer import review
from agents.context import conversation_summary, prompts
from agents.tools import actions, plan_mcp_tools, use_tool
from agents.tools.base import Tool
from agents.turns import roster
from agents.turns.roster import Agent
from guardrails.actions.registry import ACTIONS
from integrations.llm import json_protocol
from integrations.llm.completions import estimated_tokens
from knowledge.ingest import enrichment
from knowledge.search import selection

PAGE = Path("docs/prompts.md")
HEAD = """# Prompts and tools

Written by `manage.py print_prompts --write`; `make check` fails where it is out of date, so that
a change of what models are shown is seen in review. Tokens are estimated, rather too high: one for
three bytes. A turn adds skills and the user to an agent's prompt
([agents.md](agents.md#what-a-model-is-shown)). It offers each action that is permitted, with the
targets that are listed for it: as a tool with a schema where there are few, as a line of `use_tool`
where there are many; and custom agents and skills only where there are some.
"""
# What tools and the work around a turn ask a model, each in a call of its own.
OTHERS: dict[str, str] = {
    "A review": review.PROMPT,
    "A summary of older turns": conversation_summary.PROMPT,
    "extract_tasks": prompts.TASK_EXTRACTION,
    "summarise_document": prompts.DOCUMENT_SUMMARY,
    "summarise_thread": prompts.THREAD_SUMMARY,
    "draft_reply": prompts.REPLY_DRAFT,
    "plan_…_tools": plan_mcp_tools.PLANNING,
    "An item that is read in": enrichment.SYSTEM,
    "A selection of what was found": selection.SYSTEM,
}
# What stands around other prompts.
FRAMES: dict[str, str] = {
    "A custom agent, around what an administrator wrote": prompts.render_custom("…", "…"),
    "A model without tool calling, after its agent's prompt": json_protocol.INSTRUCTIONS,
}


class Command(BaseCommand):
    help = "Print every prompt and tool schema with its size."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--write", action="store_true", help=f"Write {PAGE}.")
        parser.add_argument("--check", action="store_true", help=f"Fail where {PAGE} differs.")

    def handle(self, *args: Any, **options: Any) -> None:
        text, page = "\n".join(render()) + "\n", settings.BASE_DIR / PAGE
        if options["write"]:
            page.write_text(text, encoding="utf-8")
        elif options["check"]:
            if not page.exists() or page.read_text(encoding="utf-8") != text:
                raise CommandError(f"{PAGE} is out of date. Run `manage.py print_prompts --write`.")
        else:
            self.stdout.write(text)


def render() -> Iterator[str]:
    """The page, line by line."""
    yield HEAD
    yield "| agent | prompt | tools | together |"
    yield "|---|---|---|---|"
    for agent in roster.AGENTS:
        own = estimated_tokens(agent.prompt)
        tools = sum(tool.schema_tokens for tool in _whole(agent))
        yield f"| {agent.name} | {own:,} | {tools:,} | {own + tools:,} |"
    for agent in roster.AGENTS:
        yield f"\n## {agent.name}\n"
        yield f"Tools: {', '.join(f'`{tool.name}`' for tool in _whole(agent))}.\n"
        yield from _block(agent.prompt, "text")
    yield "\n## Asked by tools and around a turn"
    yield from _texts(OTHERS)
    yield "\n## Around other prompts"
    yield from _texts(FRAMES)
    yield "\n## Tools"
    agents = (tool for agent in roster.AGENTS for tool in agent.tools)
    others = (use_tool.TOOL, plan_mcp_tools.tool_of("…", ()))
    yield from _schemas({tool.name: tool for tool in (*agents, *roster.CUSTOM_TOOLS, *others)})
    yield from _lines({tool.name: tool for agent in roster.AGENTS for tool in agent.rare})
    yield "\n## Actions"
    understood = {action.name: actions.UNDERSTOOD[action.name] for action in ACTIONS}
    yield from _lines(understood)
    yield from _schemas(understood)


def _texts(texts: Mapping[str, str]) -> Iterator[str]:
    for name, text in texts.items():
        yield f"\n### {name} ({estimated_tokens(text):,} tokens)\n"
        yield from _block(text, "text")


def _whole(agent: Agent) -> list[Tool[Any]]:
    """What it is shown a schema of, with the lines of the others."""
    door = use_tool.offer(actions=(), tools=agent.rare)
    return [*agent.tools, *([door] if agent.rare else ())]


def _schemas(tools: Mapping[str, Tool[Any]]) -> Iterator[str]:
    for name in sorted(tools):
        tool = tools[name]
        yield f"\n### {name} ({tool.schema_tokens:,} tokens)\n"
        yield from _block(json.dumps(tool.schema["function"], indent=1, ensure_ascii=False), "json")


def _lines(tools: Mapping[str, Tool[Any]]) -> Iterator[str]:
    yield "\n### Lines of use_tool\n"
    yield "| tokens | line |"
    yield "|---|---|"
    for name in sorted(tools):
        line = tools[name].line.replace("|", "\\|")
        yield f"| {estimated_tokens(tools[name].line)} | `{line}` |"


def _block(text: str, language: str) -> Iterator[str]:
    yield f"```{language}"
    yield text
    yield "```"
