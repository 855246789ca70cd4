"""What could stop an action that was permitted when it was decided, as it is now."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from django.db import connection

from guardrails.decide.checks.stopping import Stops
from guardrails.facts.effects import Effect

# Before every provider write: composed by Django it took a tenth of what an action costs.
_READ = """
WITH filed AS (
    INSERT INTO guardrails_agentfiling (account_id, action_id, item_id)
    SELECT a.id, %(action)s, unnest(%(filed)s::text[]) FROM integrations_account a
    WHERE a.id = %(account)s
    ON CONFLICT DO NOTHING
)
SELECT
    EXISTS (SELECT FROM guardrails_killswitch s
            WHERE (s.organisation_id IS NULL OR s.organisation_id = a.organisation_id)
                AND (s.account_id IS NULL OR s.account_id = a.id)
                AND s.source IN ('', a.source)
                AND s.action_type IN ('', %(action_type)s)
                AND (s.effect = '' OR s.effect = ANY (%(effects)s))
                AND s.lifted_at IS NULL),
    a.paused OR o.paused,
    ARRAY(SELECT c.at_most FROM guardrails_ceilinglimit c
          WHERE c.organisation_id = a.organisation_id
              AND c.action_type IN ('', %(action_type)s)),
    (SELECT r.approval_mode FROM guardrails_allowedaction r
     WHERE r.id = %(allowed)s AND r.account_id = a.id
         AND r.action_type = %(action_type)s AND r.enabled)
FROM integrations_account a JOIN integrations_organisation o ON o.id = a.organisation_id
WHERE a.id = %(account)s
"""


def read_stops(
    *,
    account_id: UUID,
    action_id: UUID | None = None,
    action_type: str,
    allowed_action_id: str,
    effects: Iterable[Effect] = (),
    filed: Sequence[str] = (),
) -> Stops:
    """Switches, pauses, the ceiling and the allowed action (`rule_id`; empty: none is needed).
    One statement, between the committed attempt and the provider write, which also notes the mails
    that the agent is about to file (`own_mail.list_filed`). An account that is gone is paused."""
    allowed = UUID(allowed_action_id) if allowed_action_id else None
    given: dict[str, Any] = {
        "account": account_id,
        "action": action_id,
        "effects": [effect.kind for effect in effects],
        "filed": list(filed),
        "action_type": action_type,
        "allowed": allowed,
    }
    with connection.cursor() as cursor:
        cursor.execute(_READ, given)
        found = cursor.fetchone()
    if found is None:
        return Stops(switched_off=False, paused=True)
    switched_off, paused, modes, mode = found
    return Stops(switched_off, paused, frozenset(modes), mode)
