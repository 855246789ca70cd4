"""Sealed rows of one tenant and what belongs to them, as the lines of a bundle's files."""

import re
from collections.abc import Iterator, Sequence
from json.encoder import encode_basestring
from typing import Any
from uuid import UUID

from django.db import connections

from audit import chain, vault
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
# In alphabetical order, as canonical JSON has them.
ARTIFACT = """(SELECT row_to_json(line) FROM (
    SELECT f.digest, f.external_id, f.kind, f.ordinal, f.provider, f.row_id, f.url_key) AS line)"""
OF_ROW = "JOIN audit_artifact f ON f.action_id = a.action_id AND f.row_id = a.id"
ARTIFACTS = f"SELECT {ARTIFACT} {AT_PLACES.format(join=OF_ROW)}, f.ordinal"
POLICIES = """
SELECT digest, body FROM audit_policy WHERE tenant_id = %s AND digest = ANY(%s) ORDER BY digest
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
        return self.copied(ARTIFACTS)

    def payloads(self) -> Iterator[bytes]:
        for page in self.pages():
            with connections[LEDGER].cursor() as cursor:
                cursor.execute(PAYLOADS, [self.tenant_id, page])
                found = cursor.fetchall()
            yield "".join([payload_line(*row) for row in found]).encode()

    def policies(self) -> Iterator[bytes]:
        """The policies that the rows name; `lines` must have been read."""
        digests = sorted(self.policy_digests)
        for start in range(0, len(digests), POLICY_PAGE):
            with connections[LEDGER].cursor() as cursor:
                cursor.execute(POLICIES, [self.tenant_id, digests[start : start + POLICY_PAGE]])
                found = cursor.fetchall()
            for digest, body in found:
                yield chain.canonical_bytes({"digest": digest, "body": body}) + b"\n"

    def pages(self) -> Iterator[list[int]]:
        for start in range(0, len(self.places), PAGE):
            yield list(self.places[start : start + PAGE])

    def copied(self, query: str) -> Iterator[bytes]:
        for page in self.pages():
            with connections[LEDGER].cursor() as cursor:
                statement = cursor.mogrify(AS_IT_IS.format(query), [self.tenant_id, page])
                with cursor.copy(statement) as copy:
                    chunk = b"".join(copy)
            yield chunk


def payload_line(row_id: int, salt: Any, body: str, box: Any, *place: Any) -> str:
    """As canonical JSON; nothing when the organisation's data key is gone. A payload that is
    not its row's is empty in itself, so that a verifier names it."""
    if box is not None:
        try:
            opened = vault.decrypt(bytes(box), place=vault.Place(*place))
        except vault.Unreadable:
            opened = b"", ""
        if opened is None:
            return ""
        salt, body = opened
    return f'{{"body":{encode_basestring(body)},"row_id":{row_id},"salt":"{bytes(salt).hex()}"}}\n'
