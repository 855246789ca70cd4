"""The policies of accounts as they are in the database, read in one statement: actions, targets,
ceiling and switches of one and the same moment."""

import json
from collections.abc import Iterable, Sequence
from time import monotonic
from typing import Any
from uuid import UUID

from guardrails.decide.conditions import vocabulary as conditions
from guardrails.decide.snapshot import AllowedAction, Limit, ListedTarget, PolicySnapshot, Switch
from integrations.contracts import AccountRef
from integrations.database.together import Read, Row

# An account may have hundreds of targets. As one JSON text they are read many times quicker
# than row by row. The columns are the fields of AllowedAction, ListedTarget, Limit and Switch, in
# their order; of each kind the order of rows means nothing.
_READ = """
SELECT a.id, a.paused OR o.paused,
    (SELECT json_agg(json_build_array(r.id, r.action_type, r.resource_type, r.enabled,
                                      r.approval_mode, r.conditions, r.hold_seconds))
     FROM guardrails_allowedaction r WHERE r.account_id = a.id)::text,
    (SELECT json_agg(json_build_array(t.id, t.action_type, t.resource_type, t.source, t.kind,
                                      t.external_id, t.name, coalesce(t.group_id::text, ''),
                                      coalesce(g.cardinality = 'single', false)))
     FROM guardrails_allowedactionoption t LEFT JOIN guardrails_targetgroup g ON g.id = t.group_id
     WHERE t.account_id = a.id)::text,
    (SELECT json_agg(json_build_array(c.id, c.action_type, c.at_most, c.conditions,
                                      c.hold_seconds))
     FROM guardrails_ceilinglimit c WHERE c.organisation_id = a.organisation_id)::text,
    (SELECT json_agg(json_build_array(s.id, s.action_type, s.source, s.why,
                                      s.effect))
     FROM guardrails_killswitch s
     WHERE s.lifted_at IS NULL
       AND (s.organisation_id IS NULL OR s.organisation_id = a.organisation_id)
       AND (s.account_id IS NULL OR s.account_id = a.id))::text,
    (SELECT true FROM guardrails_shadowpolicy p WHERE p.account_id = a.id LIMIT 1) IS NOT NULL,
    (SELECT true FROM guardrails_labelcorrection c WHERE c.account_id = a.id LIMIT 1) IS NOT NULL
FROM integrations_account a JOIN integrations_organisation o ON o.id = a.organisation_id
WHERE a.id = """
# No EXISTS: of several accounts the server would read the tables of all organisations for it.
# Of any number the server expects ten, which are dearer than planning the statement each time.
_READ_ONE, _READ_SEVERAL = _READ + "%s", _READ + "ANY (%s)"


def policy_snapshot(account: AccountRef) -> PolicySnapshot:
    """The account's policy as it is now. One query, however much there is."""
    return read_policy(account).run()


def read_policy(account: AccountRef) -> Read[PolicySnapshot]:
    """The same, to be run with others."""
    return _read(_READ_ONE, account.id, [account]).then(lambda found: found[account.id])


def policy_snapshots(accounts: Iterable[AccountRef]) -> dict[UUID, PolicySnapshot]:
    """The policies of these accounts at one moment. One query. An account that is gone is
    paused, and nothing is permitted for it."""
    found = list({account.id: account for account in accounts}.values())
    if len(found) == 1:
        return _read(_READ_ONE, found[0].id, found).run()
    return _read(_READ_SEVERAL, [account.id for account in found], found).run()


def _read(
    statement: str, ids: UUID | list[UUID], accounts: Sequence[AccountRef]
) -> Read[dict[UUID, PolicySnapshot]]:
    gone = True, None, None, None, None, False, False

    def load(rows: Sequence[Row]) -> dict[UUID, PolicySnapshot]:
        by_id = {row[0]: row[1:] for row in rows}
        return {one.id: _snapshot(one, *by_id.get(one.id, gone)) for one in accounts}

    return Read(statement, [ids], load)


def _snapshot(
    account: AccountRef,
    paused: bool,
    allowed_actions: str | None,
    listed_targets: str | None,
    ceiling: str | None,
    switches: str | None,
    has_shadow: bool,
    has_corrections: bool,
) -> PolicySnapshot:
    return PolicySnapshot(
        account_id=account.id,
        read_at=monotonic(),
        paused=account.paused or paused,
        allowed_actions=tuple(
            AllowedAction(
                id=id,
                action_type=action_type,
                resource_type=resource_type,
                enabled=enabled,
                mode=mode,
                conditions=conditions.read_all(raw),
                hold_seconds=hold_seconds,
            )
            for id, action_type, resource_type, enabled, mode, raw, hold_seconds in _rows(
                allowed_actions
            )
        ),
        listed_targets=tuple(map(ListedTarget._make, _rows(listed_targets))),
        ceiling=tuple(
            Limit(
                id=id,
                action_type=action_type,
                mode=mode,
                conditions=conditions.read_all(raw),
                hold_seconds=hold_seconds,
            )
            for id, action_type, mode, raw, hold_seconds in _rows(ceiling)
        ),
        switches=tuple(
            Switch(id=id, action_type=action_type, source=source, why=why, effect=effect)
            for id, action_type, source, why, effect in _rows(switches)
        ),
        has_shadow=has_shadow,
        has_corrections=has_corrections,
    )


def _rows(aggregated: str | None) -> list[list[Any]]:
    """The rows of one kind; the database has nothing to aggregate where there are none."""
    return json.loads(aggregated) if aggregated else []
