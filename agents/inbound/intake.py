"""Webhooks in: a verified event is stored in one statement, and is in the queue with that.

Most changes of a mail are the assistant's own, and word of them comes while the mail's turn is
still at work. Such an event waits for the end of the turn. Where it tells of own actions that are
stored already (the item's `own_since`), it is skipped, before or then. Worked on as if it were
somebody else's, each cost twelve statements.
"""

import json
from datetime import timedelta
from uuid import UUID, uuid4

from django.db import connection

from integrations.contracts.events import ItemEvent
from integrations.database import clock
from integrations.database.notices import TASKS
from integrations.llm import telemetry
from integrations.models import Delivery
from integrations.web.webhooks import Refused

OWN_ACTION = "own_action"
TURN_AT_WORK = "turn_at_work"
# A turn that broke off lets nobody go on: the sweep does.
WAIT = timedelta(seconds=15)
NO_ORGANISATION = Refused(401, "bad_signature", "The signature does not fit, or is too old.")

_STORE = f"""
WITH place AS (
    SELECT o.id AS organisation_id, a.id AS account_id
    FROM integrations_organisation o LEFT JOIN integrations_account a
        ON a.organisation_id = o.id AND a.external_user_id = %(user)s AND a.source = %(source)s
    WHERE o.slug = %(slug)s
    ORDER BY a.id LIMIT 1
),
news AS (
    SELECT CASE
        WHEN %(kind)s <> 'updated' THEN 'new'
        WHEN EXISTS (
            SELECT FROM place JOIN knowledge_item i USING (account_id)
            WHERE i.source = %(source)s AND i.source_id = %(source_id)s AND i.deleted_at IS NULL
                AND %(version)s BETWEEN i.own_since AND i.source_version
        ) THEN 'own'
        WHEN EXISTS (
            SELECT FROM place JOIN agents_turn t USING (account_id)
            WHERE t.item_source_id = %(source_id)s AND t.state = 'running'
            FOR SHARE OF t  -- whose end may be about to be committed, with what it lets go
        ) THEN 'waits'
        ELSE 'new'
    END AS what
),
delivery AS (
    INSERT INTO integrations_delivery (
        id, organisation_id, account_id, webhook_id, kind, source, source_id, body, state, reason,
        attempts, stalls, is_alone, lease_expires_at, received_at, finished_at
    )
    SELECT %(id)s, organisation_id, account_id, %(webhook_id)s, %(kind)s, %(source)s,
        %(source_id)s, %(body)s::jsonb, CASE what WHEN 'own' THEN 'skipped' ELSE 'queued' END,
        CASE what WHEN 'own' THEN '{OWN_ACTION}' WHEN 'waits' THEN '{TURN_AT_WORK}' ELSE '' END,
        0, 0, FALSE,
        CASE what WHEN 'new' THEN %(now)s WHEN 'waits' THEN %(soon)s END::timestamptz, %(now)s,
        CASE what WHEN 'own' THEN %(now)s END::timestamptz
    FROM place, news
    ON CONFLICT (organisation_id, webhook_id) DO NOTHING
    RETURNING id, state, reason
)
SELECT organisation_id, (SELECT id FROM delivery), (SELECT reason FROM delivery),
    (SELECT pg_notify('{TASKS}', '') FROM delivery WHERE state = 'queued' AND reason = '')
FROM place
"""  # noqa: S608  # only constants


def accept_delivery(slug: str, webhook_id: str, event: ItemEvent) -> tuple[UUID, bool]:
    """Store one verified event, to be worked through.

    Returns the delivery's id and whether it is new: the same webhook id again stores
    nothing. An unknown user is stored too, so that every accepted event is accounted
    for. Raises Refused when the organisation does not exist. One statement for what is new.
    """
    id = uuid4()
    with telemetry.span(
        "accept", "delivery", of=id, begins=True, delivery_id=str(id), source=event.source
    ):
        return _store(id, slug, webhook_id, event)


def _store(id: UUID, slug: str, webhook_id: str, event: ItemEvent) -> tuple[UUID, bool]:
    now = clock.now()
    version = (event.data or {}).get("version")
    with connection.cursor() as cursor:
        cursor.execute(
            _STORE,
            {
                "id": id,
                "slug": slug,
                "user": event.user_id,
                "webhook_id": webhook_id,
                "kind": event.kind,
                "source": event.source,
                "source_id": event.source_id,
                "version": version if type(version) is int else None,
                "body": json.dumps(event.model_dump(mode="json", exclude_none=True)),
                "now": now,
                "soon": now + WAIT,
            },
        )
        row = cursor.fetchone()
    if row is None:
        raise NO_ORGANISATION
    organisation_id, stored, reason, _ = row
    telemetry.note(reason="duplicate" if stored is None else reason)
    if stored is None:
        known = Delivery.objects.filter(organisation_id=organisation_id, webhook_id=webhook_id)
        return known.values_list("id", flat=True).get(), False
    return id, True


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
