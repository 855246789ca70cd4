"""The task specialist's tools: extract tasks, find related ones, prepare their creation."""

from dataclasses import replace
from datetime import date
from typing import Annotated, Any, Literal

from django.utils import timezone
from pydantic import BeforeValidator, Field, ValidationError

from agents.context import clock
from agents.context.prompts import TASK_EXTRACTION, render_block, render_reader
from agents.contracts import ErrorCode, ToolResult, failure
from agents.tools import open_item
from agents.tools.acting import act, describe_result
from agents.tools.base import Arguments, ItemId, Tool, ToolContext
from agents.tools.retrieve_context import describe_items, number_items
from guardrails.facts.reasons import NO_ROOM
from integrations.llm import llm
from integrations.ports.registry import writable
from knowledge.contracts import SearchRequest
from knowledge.search import retrieval

MAX_TASKS = 20
MAX_SOURCE = 20_000  # characters


class Task(Arguments):
    summary: str = Field(min_length=1, max_length=255)
    description: str = Field(default="", max_length=10_000)
    type: Literal["task", "bug", "story", "epic"] = "task"
    priority: Literal["highest", "high", "medium", "low", "lowest"] | None = None
    labels: list[str] = Field(default_factory=list, max_length=10)
    due_date: date | None = None


def _day_or_none(given: object) -> date | None:
    """A day that is written in no way that is read loses the day, not the task."""
    try:
        return date.fromisoformat(given) if isinstance(given, str) else None
    except ValueError:
        return None


class ExtractedTask(Task):
    due_date: Annotated[date | None, BeforeValidator(_day_or_none)] = None


class ExtractTasks(Arguments):
    item_id: ItemId


def extract(context: ToolContext, arguments: ExtractTasks) -> ToolResult:
    """The tasks in an item that the agent has not read: a model of its own reads it here, so that
    the text is read once."""
    item = open_item.find(context, arguments.item_id, chars=MAX_SOURCE + 1)
    if item is None:
        return open_item.no_such_item(arguments.item_id)
    about = render_reader(context.person, timezone.now())
    dated = f"Date: {clock.show(item.occurred_at, context.person.time_zone)}"
    lines = [f"Title: {item.title}", dated, item.text[:MAX_SOURCE]]
    answer = llm.complete_json(
        system=TASK_EXTRACTION,
        user=f"{about}\n\n{render_block(id='text', lines=lines)}",
        payer=context.payer,
        purpose="extract_tasks",
        max_tokens=4000,
        deadline=context.deadline,
    )
    listed = answer.get("tasks")
    if not isinstance(listed, list):
        return failure("EXECUTION_FAILED", "The text could not be turned into tasks.")
    tasks = []
    for entry in listed[:MAX_TASKS]:
        try:
            read = ExtractedTask.model_validate(entry)
            tasks.append(read.model_dump(mode="json", exclude_none=True))
        except ValidationError:
            continue  # one entry in a wrong form does not lose the others
    [n] = number_items(context, [item])
    return ToolResult(
        success=True,
        data={
            "n": n,
            "id": str(item.id),
            "title": item.title,
            "tasks": tasks,
        }
        | ({} if len(item.text) <= MAX_SOURCE else {"whole": False}),
        untrusted=True,
    )


class FindRelatedTasks(Arguments):
    query: str = Field(min_length=1, max_length=1000)
    project_key: str | None = Field(default=None, max_length=32)


def find_related(context: ToolContext, arguments: FindRelatedTasks) -> ToolResult:
    found = retrieval.search(
        SearchRequest(
            account_ids=tuple(account.id for account in context.person.accounts),
            query=arguments.query,
            sources=writable("issues"),
            entity=arguments.project_key or "",
            limit=10,
        ),
        now=timezone.now(),
        payer=context.payer,
        deadline=context.deadline,
    )
    return ToolResult(
        success=True, data={"items": describe_items(context, found.items)}, untrusted=True
    )


class PrepareTaskCreation(Arguments):
    tasks: list[Task] = Field(min_length=1, max_length=MAX_TASKS)
    project_key: str = Field(min_length=1, max_length=32)


def prepare(context: ToolContext, arguments: PrepareTaskCreation) -> ToolResult:
    """Propose one create_jira_task a task. One that is refused does not lose the others."""
    prepared: list[dict[str, Any]] = []
    refused: list[dict[str, Any]] = []
    suspends = False
    wanted = []
    for task in arguments.tasks:  # all of them are looked at before the first is asked for
        given = {
            "project_key": arguments.project_key,
            **task.model_dump(mode="json", exclude_none=True),
        }
        params = context.complete("create_jira_task", given)
        if isinstance(params, ToolResult):
            return params
        wanted.append(params)
    for number, params in enumerate(wanted):
        result = act(context, action_type="create_jira_task", params=params, number=number)
        action = describe_result(result)
        entry = {key: action[key] for key in ("id", "description", "status", "sentence")}
        (refused if result.status in ("refused", "failed") else prepared).append(entry)
        if result.reason in NO_ROOM:
            suspends = True
            break  # the rest would be refused too, each with a row of its own
    if not prepared:
        code: ErrorCode = "TOO_MANY_ASKS" if suspends else "PERMISSION_DENIED"
        return replace(failure(code, refused[0]["sentence"]), suspends=suspends)
    return ToolResult(
        success=True,
        data={"prepared": len(prepared), "actions": prepared, "refused": refused},
        suspends=suspends,
    )


EXTRACT_TASKS = Tool(
    name="extract_tasks",
    description="List the tasks in one long item that you have not read. Where you have its text, "
    "list them yourself.",
    arguments=ExtractTasks,
    run=extract,
)
FIND_RELATED_TASKS = Tool(
    name="find_related_tasks",
    description="Find existing issues about a topic.",
    arguments=FindRelatedTasks,
    run=find_related,
)
PREPARE_TASK_CREATION = Tool(
    name="prepare_task_creation",
    description="Propose the creation of tasks in a project.",
    arguments=PrepareTaskCreation,
    run=prepare,
    acts=True,
)
