"""Sealed rows of one tenant and what belongs to them, as the lines of a bundle's files."""

import json
import re
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from typing import Any
from uuid import UUID

from django.db import connections

from audit import chain, policies, vault
from audit.keys import tenant_key
from audit.lines import LINE
from audit.routing import LEDGER

PAGE = 2000
POLICY_PAGE = 100

AT_PLACES = """
FROM audit_leaf l JOIN audit_action a ON a.action_id = l.action_id AND a.id = l.row_id
{join}
WHERE l.tenant_id = %s AND l.leaf_index = ANY(%s)
ORDER BY l.leaf_index
"""
# Where a row left by retention its leaf stands for it.
LINES = f"""
SELECT CASE WHEN a.id IS NULL THEN '{{"left":"' || encode(l.hash, 'hex') || '"}}' ELSE {LINE} END
{AT_PLACES.format(join="").replace("JOIN", "LEFT JOIN", 1)}
"""
PAYLOADS = (
    "SELECT p.row_id, p.salt, p.body, p.box, a.tenant_id, a.action_id, a.attempt_no, a.phase, "
    "a.payload_commitment"
) + AT_PLACES.format(join="JOIN audit_payload p ON p.action_id = a.action_id AND p.row_id = a.id")
ARTIFACT = ("digest", "external_id", "kind", "ordinal", "provider", "row_id", "url_key")
OF_ROW = """JOIN audit_artifact f ON f.action_id = a.action_id AND f.row_id = a.id
LEFT JOIN audit_payload p ON p.action_id = a.action_id AND p.row_id = a.id"""
ARTIFACTS = (
    f"SELECT {', '.join(f'f.{name}' for name in ARTIFACT)}, p.salt, p.body, p.box, a.tenant_id, "
    f"a.action_id, a.attempt_no, a.phase, a.payload_commitment {AT_PLACES.format(join=OF_ROW)}, "
    "f.ordinal"
)
POLICIES = """
SELECT digest, body, box FROM audit_policy WHERE tenant_id = %s AND digest = ANY(%s)
ORDER BY digest
"""
# JSON has no control characters in it, so nothing is quoted and a line comes out as it is.
AS_IT_IS = "COPY ({}) TO STDOUT (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02')"
# Within a text of the line each quotation mark has a backslash before it.
POLICY_DIGEST = re.compile(rb'"policy_digest":"([^"]+)"')


class SealedRows:
    """The rows at these places, in ascending order. Read page by page, so that no transaction
    stays open however long the reader takes. Each method gives chunks of whole lines."""

    def __init__(self, tenant_id: UUID, places: Sequence[int]) -> None:
        self.tenant_id = tenant_id
        self.places = places
        self.policy_digests: set[str] = set()

    def lines(self) -> Iterator[bytes]:
        """The sealed text of each row; the leaf of one that left."""
        for chunk in self.copied(LINES):
            self.policy_digests.update(map(bytes.decode, POLICY_DIGEST.findall(chunk)))
            yield chunk

    def artifacts(self) -> Iterator[bytes]:
        key = tenant_key(self.tenant_id)
        for found in self.fetched(ARTIFACTS):
            yield "".join([artifact_line(key, *row) for row in found]).encode()

    def payloads(self) -> Iterator[bytes]:
        for found in self.fetched(PAYLOADS):
            yield "".join([payload_line(*row) for row in found]).encode()

    def policies(self) -> Iterator[bytes]:
        """The policies that the rows name; `lines` must have been read."""
        digests = sorted(self.policy_digests)
        for start in range(0, len(digests), POLICY_PAGE):
            with connections[LEDGER].cursor() as cursor:
                cursor.execute(POLICIES, [self.tenant_id, digests[start : start + POLICY_PAGE]])
                found = cursor.fetchall()
            for digest, *stored in found:
                try:
                    body = policies.opened(self.tenant_id, digest, *stored)
                except policies.Altered:
                    continue  # a verifier says that it is missing
                if body is not None:
                    yield chain.canonical_bytes({"digest": digest, "body": body}) + b"\n"

    def pages(self) -> Iterator[list[int]]:
        for start in range(0, len(self.places), PAGE):
            yield list(self.places[start : start + PAGE])

    def fetched(self, query: str) -> Iterator[list[Any]]:
        for page in self.pages():
            with connections[LEDGER].cursor() as cursor:
                cursor.execute(query, [self.tenant_id, page])
                found = cursor.fetchall()
            yield found

    def copied(self, query: str) -> Iterator[bytes]:
        for page in self.pages():
            with connections[LEDGER].cursor() as cursor:
                statement = cursor.mogrify(AS_IT_IS.format(query), [self.tenant_id, page])
                with cursor.copy(statement) as copy:
                    chunk = b"".join(copy)
            yield chunk


def payload_line(row_id: int, *stored: Any) -> str:
    """As canonical JSON; nothing when the organisation's data key is gone. A payload that is
    not its row's is empty in itself, so that a verifier names it."""
    content = opened(*stored)
    if content is None:
        return ""
    salt, body = content
    return f'{{"body":{encode_basestring(body)},"row_id":{row_id},"salt":"{salt.hex()}"}}\n'


def artifact_line(key: bytes, *row: Any) -> str:
    """As canonical JSON. The provider's id, a keyed digest in the table, comes from the payload;
    without one, or where the two differ, it stays as it is stored."""
    artifact = dict(zip(ARTIFACT, row, strict=False))
    content = opened(*row[len(ARTIFACT) :])
    try:
        named = json.loads(content[1])["artifacts"] if content else []
        plain = named[artifact["ordinal"] - 1]["external_id"]
        if artifact["external_id"] == chain.keyed(key, plain):
            artifact["external_id"] = plain
    except (ValueError, LookupError, TypeError, AttributeError):
        pass  # the payload was altered, which a verifier says
    return f"{chain.canonical(artifact)}\n"


def opened(salt: Any, body: str | None, box: Any, *place: Any) -> tuple[bytes, str] | None:
    """Salt and body, both empty when they are not this row's; None when they are gone."""
    if box is not None:
        try:
            return vault.decrypt(bytes(box), place=vault.Place(*place))
        except vault.Unreadable:
            return b"", ""
    return None if salt is None or body is None else (bytes(salt), body)
