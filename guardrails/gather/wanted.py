"""What a refused request wanted, in the words that a card would have had. Nothing is decided by it.

Where the guard said no before it looked at the provider, nothing is read for these words either:
labels and folders have their names from the account's lists, and the object has the name by which
the caller knows it (`ActionRequest.called`).
"""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from pydantic import BaseModel

from guardrails.actions import registry
from guardrails.actions.base import AnyAction, Arguments, InvalidArguments
from guardrails.contracts import ActionRequest
from guardrails.facts.facts import Facts
from guardrails.facts.text import quote, visible
from guardrails.gather.judgement import Judgement
from guardrails.models import AllowedActionOption
from integrations.contracts import Document, Email, Folder, Issue
from integrations.contracts.outgoing import Draft
from integrations.models import ProviderResource

FOLDERS = {"mail_folders": "mail", "drive_folders": "drive"}  # catalogue to kind
# Of each kind its model, and the fields of its id and its name.
NAMED_BY: Mapping[str, tuple[type[BaseModel], str, str]] = {
    "email": (Email, "id", "subject"),
    "draft": (Draft, "id", "subject"),
    "document": (Document, "id", "name"),
    "issue": (Issue, "key", "summary"),
}
log = logging.getLogger(__name__)


def describe(request: ActionRequest, judgement: Judgement) -> str:
    """One line; empty where no such action is known or its arguments say nothing. At most two
    queries. Never raises: a refusal stands without words."""
    action = registry.BY_NAME.get(request.action_type)
    if action is None:
        return ""
    try:
        return _describe(request, action, action.parse(request.arguments), judgement.facts)
    except InvalidArguments:
        return ""
    except Exception:
        log.exception("guardrails.not_described action=%s", request.action_id)
        return ""


def _describe(
    request: ActionRequest, action: AnyAction, arguments: Arguments, read: Facts | None
) -> str:
    facts = _named(request, action, arguments, read or Facts())
    kind, object_id = action.object_kind, action.object_id(arguments)
    if kind is None or object_id is None or kind == "tool" or facts.was_read(kind, object_id):
        return action.describe(arguments, facts)
    called = request.called or (object_id if kind == "issue" else "")
    stub = _stub(kind, object_id, called) if called else {}
    if stub:
        return action.describe(arguments, replace(facts, **stub))
    names = ", ".join(
        name for one in action.targets(arguments) if (name := _name(one.value, facts))
    )
    about = f" ({names})" if names else ""
    return f"{action.title}{about}: {quote(called)}" if called else f"{action.title}{about}"


def _stub(kind: str, object_id: str, called: str) -> dict[str, Any]:
    """The object with its name alone, for the line; empty where a line needs more of it."""
    if kind not in NAMED_BY:
        return {}
    model, key, name = NAMED_BY[kind]
    values: dict[str, Any] = {key: object_id, name: called}
    return {kind: model.model_construct(**values)}


def _named(request: ActionRequest, action: AnyAction, arguments: Arguments, facts: Facts) -> Facts:
    """The facts with the names of the labels and folders that it is about, where they lack them."""
    unknown = {
        one.value: one.catalogue
        for one in action.targets(arguments)
        if (one.catalogue == "labels" and one.value not in (facts.labels or {}))
        or (one.catalogue in FOLDERS and one.value not in {each.id for each in facts.folders or ()})
    }
    if not unknown:
        return facts
    names = _find_names(request, unknown)
    labels = {id: name for id, name in names.items() if unknown[id] == "labels"}
    folders = tuple(
        Folder(id=id, name=name, kind=FOLDERS[kind])
        for id, name in names.items()
        if (kind := unknown[id]) in FOLDERS
    )
    return replace(
        facts,
        labels={**labels, **(facts.labels or {})},
        folders=(*(facts.folders or ()), *folders),
    )


def _find_names(request: ActionRequest, ids: Iterable[str]) -> dict[str, str]:
    """What the account's list calls them, else as they were listed as targets."""
    found: dict[str, str] = {}
    tables: tuple[QuerySet[Any], ...] = (
        AllowedActionOption.objects.all(),
        ProviderResource.objects.all(),
    )
    for table in tables:
        rows = table.filter(account_id=request.account.id, external_id__in=list(ids))
        found |= dict(rows.exclude(name="").values_list("external_id", "name"))
    return found


def _name(id: str, facts: Facts) -> str:
    folders = {one.id: one.name for one in facts.folders or ()}
    return visible((facts.labels or {}).get(id) or folders.get(id) or "")
