"""Rows of the ledger as the texts that are stored, without making objects of them."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from uuid import UUID

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.db import DatabaseError, InterfaceError, connections
from psycopg import ClientCursor

from audit.formats.copies import Copies
from audit.formats.rows import COLUMNS, Encoder, Row, Text
from audit.ledger import queries, vault
from audit.ledger.chain import SALT_BYTES
from audit.ledger.routing import LEDGER

log = logging.getLogger(__name__)

# Two pages are held at a time, and what glibc was asked for at once it hardly gives back to the
# system. One payload can be larger than thousands of others, so rows are read with the size of
# theirs, and a page ends where its payloads have PAGE_BYTES.
PAGE = 500  # rows, at most
PAGE_BYTES = 1_000_000
# An empty text is an empty cell, without quotation marks: what stands for NULL is another.
LINES = """
COPY (SELECT a.id, a.action_id, a.attempt_no, a.phase, a.payload_commitment, (
          SELECT coalesce(octet_length(p.box), octet_length(p.body)) FROM audit_payload p
          WHERE p.action_id = a.action_id AND p.row_id = a.id
      ), {text.columns}
      FROM ({rows}) AS a ORDER BY {order})
TO STDOUT (FORMAT csv, DELIMITER '{text.delimiter}', QUOTE '{text.quote}', NULL E'\\x03')
"""
# OFFSET 0, as in audit.bundle.rows: each row is looked up by its key.
AT_PLACES = """
SELECT a.*, l.leaf_index
FROM audit_leaf l JOIN LATERAL (
    SELECT * FROM audit_action WHERE action_id = l.action_id AND id = l.row_id OFFSET 0
) a ON true
WHERE l.tenant_id = %s AND l.leaf_index = ANY(%s)
"""
# By the actions of a page: one walk through the index, whatever the statistics say.
PAYLOADS = """
COPY (SELECT row_id, action_id, box IS NOT NULL, coalesce(box, salt || convert_to(body, 'UTF8'))
      FROM audit_payload WHERE action_id = ANY('{{{actions}}}'))
TO STDOUT (FORMAT binary)
"""
# Binary COPY: what stands before the first row, and of each row the places of its row id, its
# action, whether it has a box, and its content.
BEGINNING = 19
ROW, ACTION, IS_BOX, CONTENT = slice(6, 14), slice(18, 34), 38, 43
PLACE = b"%b%b%b %b %b"  # of vault.Place, as bytes
# By row id. Bytes and not objects: thousands would keep Python's garbage collector busy.
Payloads = dict[bytes, bytes]


class Source:
    """The connection that rows are read through. Where a replica fails, the ledger's own database
    goes on."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    def copy(
        self, *statements: str, meanwhile: Callable[[], bytes] = bytes
    ) -> tuple[list[list[bytes]], bytes]:
        """What each statement answers, and what `meanwhile` returned while they ran."""
        chunk: bytes | None = None
        try:
            with Copies(connections[self.alias], *statements) as copies:
                chunk = meanwhile()
        except (DatabaseError, InterfaceError) as error:
            if self.alias == LEDGER:
                raise
            log.warning("replica.passed_over", extra={"code": type(error.__cause__).__name__})
            connections[self.alias].close()
            self.alias = LEDGER
            with Copies(connections[LEDGER], *statements) as copies:
                chunk = meanwhile() if chunk is None else chunk
        return copies.answers, chunk


def pages(rows: queries.Rows, encoder: Encoder, *, tenant_id: UUID) -> Iterator[tuple[int, bytes]]:
    """How many rows, and what `encoder` makes of them: `rows`, all of one snapshot and one
    organisation, action by action, oldest first. The server reads ahead while a page is encoded;
    while the reader of the pages is busy, it is asked nothing.

    Raises audit.ledger.vault.Unreadable for a payload that is not its row's, and WrongVaultKey.
    """
    rows, text, source = rows.order_by("action_id", "id"), encoder.text, Source(rows.db)
    page, stored = list[bytes](), list[bytes]()
    [waiting], _ = source.copy(first_page(rows, text))
    while page or waiting:
        ahead, rest = split(waiting, text)
        key = vault.keys.for_reading(tenant_id)
        encode = partial(encoded, encoder, page, stored, tenant_id, key) if page else bytes
        answers, chunk = source.copy(*behind(rows, ahead, rest, text), meanwhile=encode)
        if page:
            yield len(page), chunk
        page, (stored, *later) = ahead, answers or [[]]
        waiting = later[0] if later else rest


def at_places(places: Sequence[int], encoder: Encoder, *, tenant_id: UUID) -> Iterator[bytes]:
    """What `encoder` makes of an organisation's sealed rows at these places, `a.leaf_index`, in
    their order; those that left by retention are not among them. Raises as `pages` does."""
    key, text, source = vault.keys.for_reading(tenant_id), encoder.text, Source(LEDGER)
    wanted = lines(AT_PLACES, [tenant_id, list(places)], text, order="a.leaf_index")
    [waiting], _ = source.copy(wanted)
    while waiting:
        page, waiting = split(waiting, text)
        [stored], _ = source.copy(contents(page, text))
        yield encoded(encoder, page, stored, tenant_id, key)


def encoded(
    encoder: Encoder, page: list[bytes], stored: list[bytes], tenant_id: UUID, key: AESGCM | None
) -> bytes:
    return encoder.page(opened(page, by_row(stored), encoder.text, tenant_id, key))


def split(rows: list[bytes], text: Text) -> tuple[list[bytes], list[bytes]]:
    """The rows whose payloads are a page, one at least, and those behind them."""
    delimiter = text.delimiter.encode()
    sizes = (message.split(delimiter, 6)[5] for message in rows)
    number = fitting(int(size) if size.isdigit() else 0 for size in sizes)  # an erased one has none
    return rows[:number], rows[number:]


def fitting(sizes: Iterable[int]) -> int:
    """How many of the payloads of these sizes in bytes are one page: all that fit, one at least
    where there are any."""
    held = number = 0
    for size in sizes:
        held += size
        if held > PAGE_BYTES and number:
            break
        number += 1
    return number


def behind(rows: queries.Rows, page: list[bytes], rest: list[bytes], text: Text) -> tuple[str, ...]:
    """The payloads of a page, and the rows behind it where none of them wait."""
    if not page:
        return ()
    if rest:
        return (contents(page, text),)
    row_id, action_id, _ = page[-1].decode().split(text.delimiter, 2)
    later = rows.filter(action_id__gte=action_id).exclude(action_id=action_id, id__lte=row_id)
    return contents(page, text), first_page(later, text)


def first_page(rows: queries.Rows, text: Text) -> str:
    query, given = rows.values(*COLUMNS)[:PAGE].query.sql_with_params()
    return lines(query, given, text, order="a.action_id, a.id")


def lines(query: str, given: Sequence[object], text: Text, *, order: str) -> str:
    """COPY takes no parameters, so they are put into the statement as literals here."""
    connections[LEDGER].ensure_connection()
    cursor = ClientCursor(connections[LEDGER].connection)
    return cursor.mogrify(LINES.format(text=text, rows=query, order=order), given)


def contents(page: list[bytes], text: Text) -> str:
    mark = text.delimiter.encode()
    actions = dict.fromkeys(line.split(mark, 2)[1] for line in page)
    return PAYLOADS.format(actions=b",".join(actions).decode())


def by_row(messages: list[bytes]) -> Payloads:
    messages[:1] = [message[BEGINNING:] for message in messages[:1]]
    return {message[ROW]: message for message in messages}


def opened(
    page: list[bytes], payloads: Payloads, text: Text, tenant_id: UUID, key: AESGCM | None
) -> Iterator[Row]:
    tenant, delimiter, quote = tenant_id.bytes, text.delimiter.encode(), text.quote.encode()
    for message in page:
        row_id, _, attempt_no, phase, commitment, _, line = message[:-1].split(delimiter, 6)
        if commitment.startswith(quote):  # no digest needs one
            raise vault.Unreadable(vault.NOT_ITS_OWN)
        payload = payloads.get(int(row_id).to_bytes(8, "big"))
        if payload is None or (payload[IS_BOX] and key is None):
            yield Row(line, None, None)
            continue
        plain = payload[CONTENT:]
        if payload[IS_BOX] and key:
            place = PLACE % (tenant, payload[ACTION], attempt_no, phase, commitment)
            plain = vault.open_with(key, plain, place)
        yield Row(line, plain[SALT_BYTES:], plain[:SALT_BYTES].hex().encode())
