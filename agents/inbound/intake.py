"""Webhooks in: verified events are stored in one statement, and are in the queue with that.

Most changes of a mail are the assistant's own, and word of them comes while the mail's turn is
still at work. Such an event waits for the end of the turn. Where it tells of own actions that are
stored already (the item's `own_since`), it is skipped, before or then. Worked on as if it were
somebody else's, each cost twelve statements.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID, uuid4

from django.db import connection

from integrations.contracts.events import ItemEvent
from integrations.database import clock
from integrations.database.notices import TASKS
from integrations.llm import telemetry
from integrations.models import Delivery
from integrations.web.webhooks import Refused, Stored, Verified

OWN_ACTION = "own_action"
TURN_AT_WORK = "turn_at_work"
# A turn that broke off lets nobody go on: the sweep does.
WAIT = timedelta(seconds=15)
NO_ORGANISATION = Refused(401, "bad_signature", "The signature does not fit, or is too old.")

_STORE = f"""
WITH given AS (
    SELECT * FROM unnest(
        %(id)s::uuid[], %(slug)s::text[], %(user)s::text[], %(webhook_id)s::text[],
        %(kind)s::text[], %(source)s::text[], %(source_id)s::text[], %(version)s::numeric[],
        %(body)s::text[]
    ) AS given (id, slug, external_user_id, webhook_id, kind, source, source_id, version, body)
),
place AS (
    SELECT given.*, o.id AS organisation_id, a.id AS account_id
    FROM given JOIN integrations_organisation o ON o.slug = given.slug
    LEFT JOIN LATERAL (
        SELECT a.id FROM integrations_account a
        WHERE a.organisation_id = o.id AND a.external_user_id = given.external_user_id
            AND a.source = given.source
        ORDER BY a.id LIMIT 1
    ) a ON true
),
news AS (
    SELECT place.*, CASE
        WHEN kind <> 'updated' THEN 'new'
        WHEN EXISTS (
            SELECT FROM knowledge_item i
            WHERE i.account_id = place.account_id AND i.source = place.source
                AND i.source_id = place.source_id AND i.deleted_at IS NULL
                AND place.version BETWEEN i.own_since AND i.source_version
        ) THEN 'own'
        WHEN EXISTS (
            SELECT FROM agents_turn t
            WHERE t.account_id = place.account_id AND t.item_source_id = place.source_id
                AND t.state = 'running'
            FOR SHARE OF t  -- whose end may be about to be committed, with what it lets go
        ) THEN 'waits'
        ELSE 'new'
    END AS what
    FROM place
    ORDER BY webhook_id  -- as in every process: none waits for another that waits for it
),
delivery AS (
    INSERT INTO integrations_delivery (
        id, organisation_id, account_id, webhook_id, kind, source, source_id, body, state, reason,
        attempts, stalls, is_alone, lease_expires_at, received_at, finished_at
    )
    SELECT id, organisation_id, account_id, webhook_id, kind, source, source_id, body::jsonb,
        CASE what WHEN 'own' THEN 'skipped' ELSE 'queued' END,
        CASE what WHEN 'own' THEN '{OWN_ACTION}' WHEN 'waits' THEN '{TURN_AT_WORK}' ELSE '' END,
        0, 0, FALSE,
        CASE what WHEN 'new' THEN %(now)s WHEN 'waits' THEN %(soon)s END::timestamptz, %(now)s,
        CASE what WHEN 'own' THEN %(now)s END::timestamptz
    FROM news
    ON CONFLICT (organisation_id, webhook_id) DO NOTHING
    RETURNING id, state, reason
)
SELECT place.id, place.organisation_id, delivery.reason, delivery.id IS NOT NULL,
    CASE WHEN delivery.state = 'queued' AND delivery.reason = '' THEN pg_notify('{TASKS}', '') END
FROM place LEFT JOIN delivery USING (id)
"""  # noqa: S608  # only constants


def accept_delivery(slug: str, webhook_id: str, event: ItemEvent) -> tuple[UUID, bool]:
    """Store one verified event, to be worked through: its delivery's id, and whether it is new.
    Raises Refused when the organisation does not exist."""
    [found] = accept_deliveries([Verified(slug=slug, webhook_id=webhook_id, event=event)])
    if isinstance(found, Refused):
        raise found
    return found.delivery_id, found.is_new


def accept_deliveries(verified: Sequence[Verified]) -> list[Stored | Refused]:
    """Store verified events, to be worked through, by one statement and all or none.

    The same webhook id again stores nothing. An unknown user is stored too, so that every accepted
    event is accounted for. One of an organisation that does not exist is refused.
    """
    by_id = {uuid4(): one for one in verified}
    found = _store_in_spans(list(by_id.items()), by_id)
    return [found.get(id, NO_ORGANISATION) for id in by_id]


def _store_in_spans(
    left: Sequence[tuple[UUID, Verified]], by_id: Mapping[UUID, Verified]
) -> dict[UUID, Stored]:
    """With a span around it for each: a delivery's trace is its own."""
    if not left:
        return _store(by_id)
    (id, one), *others = left
    source = one.event.source
    with telemetry.span(
        "accept", "delivery", of=id, begins=True, delivery_id=str(id), source=source
    ) as note:
        found = _store_in_spans(others, by_id)
        if id in found:
            note(reason=found[id].reason if found[id].is_new else "duplicate")
        return found


def _store(by_id: Mapping[UUID, Verified]) -> dict[UUID, Stored]:
    now = clock.now()
    rows = [
        {
            "id": id,
            "slug": one.slug,
            "user": one.event.user_id,
            "webhook_id": one.webhook_id,
            "kind": one.event.kind,
            "source": one.event.source,
            "source_id": one.event.source_id,
            "version": _version(one.event),
            "body": json.dumps(one.event.model_dump(mode="json", exclude_none=True)),
        }
        for id, one in by_id.items()
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    with connection.cursor() as cursor:
        cursor.execute(_STORE, {**columns, "now": now, "soon": now + WAIT})
        stored = cursor.fetchall()
    return {
        id: Stored(delivery_id=id, reason=reason)
        if is_new
        else Stored(delivery_id=_known(organisation_id, by_id[id].webhook_id), is_new=False)
        for id, organisation_id, reason, is_new, _ in stored
    }


def _version(event: ItemEvent) -> int | None:
    version = (event.data or {}).get("version")
    return version if type(version) is int else None


def _known(organisation_id: UUID, webhook_id: str) -> UUID:
    known = Delivery.objects.filter(organisation_id=organisation_id, webhook_id=webhook_id)
    return known.values_list("id", flat=True).get()


# What waits for the item's turn is skipped where it tells of own actions alone, and else is free.
LET_GO = f"""
UPDATE integrations_delivery d SET
    state = CASE WHEN own.is_all THEN 'skipped' ELSE 'queued' END,
    reason = CASE WHEN own.is_all THEN '{OWN_ACTION}' ELSE '' END,
    finished_at = CASE WHEN own.is_all THEN %(now)s END::timestamptz,
    lease_expires_at = CASE WHEN own.is_all THEN NULL ELSE %(now)s END::timestamptz
FROM integrations_delivery it, LATERAL (
    SELECT EXISTS (
        SELECT FROM knowledge_item i
        WHERE (i.account_id, i.source, i.source_id) = (it.account_id, it.source, it.source_id)
            AND i.deleted_at IS NULL
            AND it.body #> '{{{{data,version}}}}'
                BETWEEN to_jsonb(i.own_since) AND to_jsonb(i.source_version)
    ) AS is_all
) own
WHERE d.id = it.id AND d.state = 'queued' AND d.reason = '{TURN_AT_WORK}'
    AND (it.account_id, it.source_id) = ({{item}})
"""  # noqa: S608  # only constants
_LET_GO = LET_GO.format(item="%(account)s, %(item)s")


def let_go(account_id: UUID, item_id: str) -> None:
    """The item's turn has ended, and there is no delivery that ends with it. One statement."""
    with connection.cursor() as cursor:
        cursor.execute(_LET_GO, {"account": account_id, "item": item_id, "now": clock.now()})
