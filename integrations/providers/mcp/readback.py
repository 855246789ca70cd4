"""What became of a call whose answer was lost, read from the server itself.

No server keeps keys. Where a reviewed description names a tool that shows what became of a call,
and an operator has enabled that tool as one that only reads, it is asked before the call and after
it: only what is new since then, or different, says something. A read can be wrong, so nothing that
it says ever leads to a second call.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from integrations.contracts import AccountRef
from integrations.exceptions import Malformed, ProviderError, Rejected
from integrations.models import McpCall, McpTool
from integrations.ports.evidence import CannotTell, Evidence, NotPerformed, Performed
from integrations.ports.tools import Reading, ToolMeaning
from integrations.providers.mcp import calls, catalogue

# Servers list what was written a moment ago late, and a slow one may still do what it was sent.
LATE = timedelta(minutes=10)
NOTHING_SENT = "Remit had sent nothing to the server under this key."
Seen = dict[str, str]  # what a read shows, by id: a digest of the fields that count
State = McpCall.State


def begin(account: AccountRef, tool: McpTool, arguments: Mapping[str, Any], *, key: str) -> McpCall:
    """The row of this call, which is sent next. Raises Rejected where it was called off."""
    about = _looked(account, tool, arguments)
    row, new = McpCall.objects.get_or_create(
        account_id=account.id, key=key, defaults={"tool": tool, **about}
    )
    if not new:
        raise Rejected("nothing is sent under this key any more")
    return row


def refuse(row: McpCall) -> None:
    McpCall.objects.filter(pk=row.pk).update(state=State.REFUSED, changed_at=timezone.now())


def evidence(account: AccountRef, key: str) -> Evidence:
    """Raises ProviderError where the server has to be asked and is away."""
    row, new = McpCall.objects.get_or_create(
        account_id=account.id, key=key, defaults={"state": State.CALLED_OFF}
    )
    if new or row.state == State.CALLED_OFF:
        return NotPerformed(proof=NOTHING_SENT)
    meaning = catalogue.meaning_of(row.tool) if row.tool else None
    if row.state == State.REFUSED or row.before is None or meaning is None:
        return CannotTell(ask_again_at=None)
    proof = _proof_of(row.tool, meaning)
    if proof is None or meaning.reading is None:
        return CannotTell(ask_again_at=None)
    found = _judge(row, meaning, _look(account, proof, meaning.reading, row.asked))
    late = row.begun_at + LATE
    if isinstance(found, NotPerformed) and timezone.now() < late:
        return CannotTell(ask_again_at=late)
    return found


def _looked(account: AccountRef, tool: McpTool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be known before the call to read it back later; nothing where it cannot be."""
    meaning = catalogue.meaning_of(tool)
    proof = _proof_of(tool, meaning) if meaning else None
    if proof is None or meaning is None or meaning.reading is None:
        return {}
    reading = meaning.reading
    if any(name not in arguments for name in (*reading.arguments.values(), *reading.same.values())):
        return {}
    asked = {name: arguments[own] for name, own in reading.arguments.items()} | dict(reading.fixed)
    try:
        before = _look(account, proof, reading, asked)
    except ProviderError:
        return {}  # the call is made all the same; a person looks, should its answer be lost
    wanted = _digest([arguments[own] for own in reading.same.values()])
    return {"asked": asked, "wanted": wanted, "before": before}


def _proof_of(tool: McpTool | None, meaning: ToolMeaning) -> McpTool | None:
    """The tool that shows it, where an operator has read it and says that it only reads."""
    return (
        McpTool.objects.select_related("server")
        .filter(
            server=tool.server if tool else None,
            name=meaning.proof,
            enabled=True,
            effect=McpTool.Effect.READING,
            server__enabled=True,
        )
        .first()
    )


def _look(account: AccountRef, proof: McpTool, reading: Reading, asked: Mapping[str, Any]) -> Seen:
    """Raises ProviderError; Malformed for an answer in another form than described."""
    found = calls.read(
        catalogue.address(proof.server, account),
        name=proof.name,
        fingerprint=proof.fingerprint,
        arguments=asked,
    )
    if not reading.items:
        return {"": _fields(found, reading)}
    for name in reading.items.split(".") if reading.items != "." else ():
        found = found.get(name) if isinstance(found, Mapping) else None
    if not isinstance(found, list):
        raise Malformed("the tool answers no list")
    seen = {}
    for one in found:
        id = one.get(reading.id) if isinstance(one, Mapping) else None
        if not isinstance(id, str | int) or str(id) in seen:
            raise Malformed("the tool's answers have no ids")
        seen[str(id)] = _fields(one, reading)
    return seen


def _judge(row: McpCall, meaning: ToolMeaning, now: Seen) -> Evidence:
    before: Seen = row.before or {}
    is_list = bool(meaning.reading and meaning.reading.items)
    fresh = {
        id: seen
        for id, seen in now.items()
        if (id not in before if is_list else seen != before[id])
    }
    there = [id for id, seen in now.items() if seen == row.wanted and (id in fresh or not is_list)]
    if there and not (is_list and _is_twice(row)):
        said = f"{meaning.proof} shows it{f': {there[0]}' if there[0] else ''}."
        return Performed(response={"text": said}, at=row.begun_at)
    if fresh or there or not before.keys() <= now.keys():
        # Something else is new, or what was there is gone: the read shows not what it showed.
        return CannotTell(ask_again_at=None)
    return NotPerformed(proof=f"{meaning.proof} shows what it showed before the call.")


def _is_twice(row: McpCall) -> bool:
    """Whether another call of the same was under way, so that nobody can tell whose is there."""
    return (
        McpCall.objects.filter(tool=row.tool, wanted=row.wanted, asked=row.asked)
        .filter(begun_at__gt=row.begun_at - LATE, begun_at__lt=row.begun_at + LATE)
        .exclude(pk=row.pk)
        .exists()
    )


def _fields(found: Any, reading: Reading) -> str:
    if not isinstance(found, Mapping):
        raise Malformed("the tool answers no object")
    return _digest([found.get(name) for name in reading.same])


def _digest(values: list[Any]) -> str:
    """The same for texts that differ in how their lines end, and in white space around them."""
    plain = [v.replace("\r\n", "\n").strip() if isinstance(v, str) else v for v in values]
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()
