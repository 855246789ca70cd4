"""A bundle read back as values. Reads what stands there: `verify.py` says whether it is sound."""

import json
import zipfile
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from audit.contracts import Artifact, Recorded

IDS = ("tenant_id", "action_id", "account_id", "parent_action_id")
TIMES = ("occurred_at", "recorded_at")
ERASED: dict[str, Any] = {"artifacts": [], "payload": {}, "resource_id": "", "target_id": ""}


def rows(archive: zipfile.ZipFile) -> Iterator[Recorded]:
    """Every row in the order of the bundle, one at a time. What was erased is empty.

    Raises KeyError, ValueError or TypeError where the bundle is no bundle.
    """
    payloads = lines(archive, "payloads.jsonl")
    following = next(payloads, None)
    for line in lines(archive, "ledger.jsonl"):
        if "left" in line:  # by retention
            continue
        content = ERASED
        if following and following["row_id"] == line["id"]:
            content = following["body"]
            following = next(payloads, None)
        yield recorded(line, content)


def policies(archive: zipfile.ZipFile) -> dict[str, str]:
    """The policies that decided, as canonical JSON, by their digest."""
    return {line["digest"]: line["body"] for line in lines(archive, "policies.jsonl")}


def lines(archive: zipfile.ZipFile, name: str) -> Iterator[Any]:
    with archive.open(name) as file:
        yield from map(json.loads, file)


def recorded(line: dict[str, Any], content: dict[str, Any]) -> Recorded:
    values = {name: line[name] for name in Recorded.__dataclass_fields__ if name in line}
    values |= {name: UUID(line[name]) for name in IDS if line[name]}
    values |= {name: datetime.fromisoformat(line[name]) for name in TIMES}
    return Recorded(
        **values,
        resource_id=content["resource_id"],
        target_id=content["target_id"],
        payload=content["payload"],
        artifacts=tuple(Artifact(**artifact) for artifact in content["artifacts"]),
    )
