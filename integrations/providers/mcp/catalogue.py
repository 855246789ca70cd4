"""An organisation's servers and tools: reading what they offer, and one tool for one decision."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, ProviderError
from integrations.models import McpServer, McpTool
from integrations.ports.tools import Tool, ToolEffect, ToolMeaning, tool_id
from integrations.providers.mcp import known_tools
from integrations.providers.mcp.contracts import OfferedTool, is_plain, storable
from integrations.providers.mcp.conversation import Address
from integrations.providers.mcp.listing import offered
from integrations.providers.mcp.session import token_of


@dataclass(frozen=True, kw_only=True)
class CatalogueChanges:
    """What became of a server's tools when they were read. `changed` were enabled and are off."""

    new: tuple[McpTool, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    left_out: int = 0


def offered_by(server: McpServer, *, now: datetime) -> tuple[OfferedTool, ...]:
    """What the server offers now. Raises ProviderError, and keeps its code."""
    try:
        return offered(address(server))
    except ProviderError as error:
        McpServer.objects.filter(pk=server.pk).update(problem=_describe(error), looked_at=now)
        raise


def keep(server: McpServer, found: Sequence[OfferedTool], *, now: datetime) -> CatalogueChanges:
    """Keep what the server offers. New tools are off, and so is each that says something else
    than when it was enabled, or is gone."""
    named = [one for one in found if is_plain(one.name)]
    rows = {row.name: row for row in server.tools.all()}
    new: list[McpTool] = []
    changed: list[str] = []
    for one in named:
        row, said = rows.pop(one.name, None), _said(one, server.url)
        if row is None:
            new.append(McpTool.objects.create(server=server, name=one.name, **said))
        elif row.fingerprint != said["fingerprint"] or row.gone_at:
            changed += [one.name] if row.enabled else []
            _change(row, now=now, **said, gone_at=None)
    gone = [row.name for row in rows.values() if not row.gone_at]
    for row in rows.values():
        if not row.gone_at:
            _change(row, now=now, gone_at=now)
    left_out = len(found) - len(named)
    problem = (
        f"{left_out} tools were left out: their names are not plain names." if left_out else ""
    )
    McpServer.objects.filter(pk=server.pk).update(problem=problem, looked_at=now)
    return CatalogueChanges(
        new=tuple(new), changed=tuple(changed), gone=tuple(gone), left_out=left_out
    )


def tool(account: AccountRef, id: str) -> Tool:
    """One tool as it is now: the server is asked, and one that says something else than when it
    was enabled is switched off. Raises NotFound, and any other ProviderError."""
    row = row_of(account, id)
    enabled = row.enabled and row.server.enabled
    if enabled:
        said = {one.name: one for one in offered(address(row.server, account))}.get(row.name)
        if said is None or said.fingerprint(row.server.url) != row.fingerprint:
            look_at = {"gone_at": timezone.now()} if said is None else _said(said, row.server.url)
            _change(row, now=timezone.now(), **look_at)
            enabled = False
    row.refresh_from_db()
    return Tool(
        id=tool_id(row.server.slug, row.name),
        version=row.version,
        server=row.server.name,
        effect=effect_of(row),
        enabled=enabled and row.enabled,
        fingerprint=row.fingerprint,
        input_schema=row.input_schema,
        meaning=meaning_of(row),
    )


def described(organisation_id: UUID, ids: Iterable[str]) -> list[dict[str, Any]]:
    """What servers say about those of these tools that are enabled, as it was when somebody
    looked at it. Strangers wrote it. One query."""
    wanted = set(ids)
    rows = McpTool.objects.select_related("server").filter(
        server__organisation_id=organisation_id, server__enabled=True, enabled=True
    )
    return [
        {
            "id": str(row),
            "title": row.title,
            "description": row.description,
            "arguments": row.input_schema,
            "effect": effect_of(row),
        }
        for row in rows.order_by("server__slug", "name")
        if str(row) in wanted
    ]


def row_of(account: AccountRef, id: str) -> McpTool:
    """Raises NotFound."""
    slug, _, name = id.partition(":")
    row = (
        McpTool.objects.select_related("server")
        .filter(server__organisation_id=account.organisation_id, server__slug=slug, name=name)
        .first()
    )
    if row is None:
        raise NotFound("no such tool")
    return row


def address(server: McpServer, account: AccountRef | None = None) -> Address:
    """Raises NotPermitted where the token that an operator named is not set."""
    return Address(
        url=server.url,
        user_id=account.external_user_id if account else "",
        token=token_of(server.token_variable),
    )


def effect_of(row: McpTool) -> ToolEffect:
    effects: Mapping[str, ToolEffect] = {"undoable": "undoable", "reading": "reading"}
    return effects.get(row.effect, "acting")


def meaning_of(row: McpTool) -> ToolMeaning | None:
    """What Remit knows of the tool, where an operator says that it is that one."""
    is_known = row.effect == McpTool.Effect.KNOWN
    return known_tools.find(row.name, row.input_schema) if is_known else None


def decide(row: McpTool, *, enabled: bool, effect: str) -> bool:
    """An operator's word about the tool as they saw it. False where it is not as they saw it."""
    seen = {"seen": row.said, "changed_at": None} if enabled else {}
    rows = McpTool.objects.filter(pk=row.pk, version=row.version)
    if enabled:
        rows = rows.filter(unusable="", gone_at=None)
    return bool(rows.update(enabled=enabled, effect=effect, version=F("version") + 1, **seen))


def _change(row: McpTool, *, now: datetime, **said: Any) -> None:
    """What the server says changed: whatever it was, the tool is off. One statement, so that an
    operator who enables it at this moment enables what they saw or nothing."""
    McpTool.objects.filter(pk=row.pk).update(
        **said,
        enabled=False,
        version=F("version") + 1,
        changed_at=now if row.enabled else row.changed_at,
    )


def _said(one: OfferedTool, url: str) -> dict[str, Any]:
    unusable = one.unusable
    return {
        "title": storable(one.title)[:200],
        "description": storable(one.description)[:10_000],
        # What holds hidden characters is not kept: it is fit for nobody's eyes.
        "input_schema": {} if unusable else dict(one.input_schema),
        "hints": {} if unusable else dict(one.hints),
        "fingerprint": one.fingerprint(url),
        "unusable": unusable,
    }


def _describe(error: ProviderError) -> str:
    return f"{error.code}: {error}"[:300]
