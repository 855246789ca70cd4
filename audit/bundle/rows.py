"""Sealed rows of one tenant and what belongs to them, as the lines of a bundle's files."""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import connections

from audit.bundle.ahead import read_ahead
from audit.bundle.spool import Spool
from audit.bundle.verify import artifacts_in
from audit.formats.stored import fitting
from audit.ledger import chain, policies, vault
from audit.ledger.keys import tenant_key
from audit.ledger.lines import LINE
from audit.ledger.routing import LEDGER

PAGE = 1000
POLICY_PAGE = 100

# OFFSET 0 makes the server look each row up by its key. Where it may choose, it reads the whole
# month for every page.
AT_PLACES = """
FROM audit_leaf l {} JOIN LATERAL (
    SELECT * FROM audit_action WHERE action_id = l.action_id AND id = l.row_id OFFSET 0
) a ON true
"""
CHOSEN = "WHERE l.tenant_id = %s AND l.leaf_index = ANY(%s)"
# One text a page. Where a row left by retention its leaf stands for it.
LINES = f"""
SELECT convert_to(string_agg(
    CASE WHEN a.id IS NULL THEN '{{"left":"' || encode(l.hash, 'hex') || '"}}' ELSE {LINE} END
    || E'\\n', '' ORDER BY l.leaf_index), 'UTF8')
{AT_PLACES.format("LEFT")} {CHOSEN}
"""
# A row whose payload was erased has artifacts still.
CONTENTS = f"""
SELECT a.id, p.salt, p.body, p.box, {vault.PLACE}, f.created
{AT_PLACES.format("")} LEFT JOIN LATERAL (
    SELECT * FROM audit_payload WHERE action_id = l.action_id AND row_id = l.row_id OFFSET 0
) p ON true LEFT JOIN LATERAL (
    SELECT array_agg(ARRAY[ordinal::text, digest, external_id, kind, provider, url_key]
                     ORDER BY ordinal) AS created
    FROM audit_artifact WHERE action_id = l.action_id AND row_id = l.row_id
) f ON true
{CHOSEN} ORDER BY l.leaf_index
"""  # noqa: S608  # the names are this module's own
# How large each payload is, without reading it.
SIZES = """
SELECT array_agg(coalesce(octet_length(p.box), octet_length(p.body), 0) ORDER BY l.leaf_index)
FROM audit_leaf l LEFT JOIN LATERAL (
    SELECT box, body FROM audit_payload WHERE action_id = l.action_id AND row_id = l.row_id OFFSET 0
) p ON true
WHERE l.tenant_id = %s AND l.leaf_index = ANY(%s)
"""
LEAVES = """
SELECT string_agg(hash, ''::bytea ORDER BY leaf_index) FROM audit_leaf
WHERE tenant_id = %s AND leaf_index = ANY(%s)
"""
POLICIES = """
SELECT digest, body, box FROM audit_policy WHERE tenant_id = %s AND digest = ANY(%s)
ORDER BY digest
"""
# Within a text of the line each quotation mark has a backslash before it.
POLICY_DIGEST = re.compile(rb'"policy_digest":"([^"]+)"')
PAYLOAD_LINE = b'{"body":%b,"row_id":%d,"salt":"%b"}\n'
ARTIFACT_LINE = b'{"artifact":%b,"digest":"%b","row_id":%d}\n'
NOT_ITS_OWN = b"null", b"0" * 32
GONE = b"", b""
Artifact = Sequence[str]  # what CONTENTS lists of each
# A row's id, its payload, the salt in hexadecimal digits, both empty when they are gone, and what
# it created.
Content = tuple[int, bytes, bytes, Sequence[Artifact] | None]


class SealedRows:
    """The rows at these places, in ascending order. Read page by page, so that no transaction
    stays open however long the reader takes. Each method gives chunks of whole lines."""

    def __init__(self, tenant_id: UUID, places: Sequence[int]) -> None:
        self.tenant_id = tenant_id
        self.places = places
        self.policy_digests: set[str] = set()

    def lines(self) -> Iterator[bytes]:
        """The sealed text of each row; the leaf of one that left."""
        for ((chunk,),) in self.fetched(LINES):
            self.policy_digests.update(map(bytes.decode, POLICY_DIGEST.findall(chunk or b"")))
            yield chunk or b""

    def leaves(self) -> Iterator[bytes]:
        """The leaf of each row: beside the rows they show which one is not what was sealed."""
        for ((chunk,),) in self.fetched(LEAVES):
            yield chunk or b""

    def payloads(self, artifacts: Spool) -> Iterator[bytes]:
        """Those that still open; one that is not its row's is null, so that a verifier names it.
        The lines of what the rows created are put into `artifacts`."""
        key = tenant_key(self.tenant_id)
        for page in self.contents():
            lines, created_lines = list[bytes](), list[bytes]()
            for row_id, body, salt, created in page:
                if body:
                    lines.append(PAYLOAD_LINE % (body, row_id, salt))
                for one in created or ():
                    created_lines.append(artifact_line(key, row_id, body, one))
            artifacts.put(b"".join(created_lines))
            yield b"".join(lines)

    def contents(self) -> Iterator[Iterator[Content]]:
        """Page by page, each as long as `audit.formats.stored` makes one."""
        ends = list(self.ends())
        pages = (
            [self.tenant_id, list(self.places[start:end])] for start, end in pairwise([0, *ends])
        )
        for found in read_ahead(connections[LEDGER], CONTENTS, pages):
            key = vault.keys.for_reading(self.tenant_id)
            yield (
                (row_id, *opened(key, salt, body, box, place), created)
                for row_id, salt, body, box, place, created in found
            )

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

    def ends(self) -> Iterator[int]:
        """Behind how many of the places each page of payloads ends."""
        end = 0
        for page, ((found,),) in zip(self.pages(), self.fetched(SIZES), strict=True):
            sizes = [*(found or ()), *[0] * len(page)][: len(page)]  # a leaf may be missing
            while sizes:
                number = fitting(sizes)
                end, sizes = end + number, sizes[number:]
                yield end

    def fetched(self, query: str) -> Iterator[list[Any]]:
        """What the query finds of each page."""
        pages = ([self.tenant_id, page] for page in self.pages())
        return read_ahead(connections[LEDGER], query, pages)


def artifact_line(key: bytes, row_id: int, body: bytes, artifact: Artifact) -> bytes:
    """The provider's id and address, keyed digests in the table, come from the payload; without
    one, or where what is stored differs from it, the line is as it is stored."""
    ordinal, digest, *stored = artifact
    try:
        text = artifacts_in(body)[int(ordinal) - 1]
        external_id, kind, provider, url = values(text)
        others = [kind, provider, chain.keyed(key, url)]
        ids = chain.keyed(key, external_id), external_id  # once not keyed
        is_named = stored in [[one, *others] for one in ids]
    except (ValueError, LookupError, TypeError, AttributeError):
        is_named = False  # there is no payload, or it was altered, which a verifier says
    if not is_named:
        names = ("external_id", "kind", "provider", "url")
        text = chain.canonical_bytes(dict(zip(names, stored, strict=True)))
    return ARTIFACT_LINE % (text, digest.encode(), row_id)


def values(text: bytes) -> list[str]:
    """The values of a flat canonical object whose keys and values are texts."""
    if b"\\" in text:
        return list(json.loads(text.decode()).values())
    return text.decode().split('"')[3::4]


def opened(
    key: AESGCM | None, salt: bytes | None, body: str | None, box: bytes | None, place: bytes
) -> tuple[bytes, bytes]:
    """Body and salt, NOT_ITS_OWN when they are not this row's; both empty when they are gone."""
    if box is None:
        if salt is None or body is None:
            return GONE
        # Stored in the clear, it can have been altered to be no line.
        is_line = "\n" not in body and len(salt) == chain.SALT_BYTES
        return (body.encode(), salt.hex().encode()) if is_line else NOT_ITS_OWN
    if key is None:
        return GONE
    try:
        plain = vault.open_with(key, box, place)
    except vault.Unreadable:
        return NOT_ITS_OWN
    return plain[chain.SALT_BYTES :], plain[: chain.SALT_BYTES].hex().encode()
