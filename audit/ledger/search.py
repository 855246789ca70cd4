"""Actions by words. What an action was about is encrypted, so the apps above this one say what the
words mean: they know it from rows of their own, as text that they search already. Here it is found
by what the ledger has in the clear."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import BooleanField, CharField, F, Func, Q, Subquery, UUIDField, Value
from django.db.models.functions import Coalesce, Concat

from audit.contracts import Recorded
from audit.ledger import provider_side, queries, selectors
from audit.ledger.sentences import STATES
from audit.models import ActionArtifact

NEWEST = 20_000
"""In so many rows words of the action, of who acted and of the reason are looked for: no index
holds them."""
NEWEST_MEANT = 100  # so many mails, documents and requests that have the words count, of each kind
HOW_FAR = (
    "By person and outcome the whole ledger was searched, by subject and request the newest "
    f"{NEWEST_MEANT} that fit, by other words the newest {NEWEST:,} rows."
)
HOW_FAR_BEGUN = (
    f"What was begun and has no outcome was looked for in the newest {NEWEST:,} rows. How many "
    "there are in a month stands in its health report; verify_ledger lists all."
)
COLUMNS = (
    *("action_type", "status", "decision", "decision_reason", "error_code", "provider"),
    *("agent_id", "actor_id", "on_behalf_of", "skill_ref"),
)
IN_INDEX = frozenset({"noop", "failed", "blocked", "waiting", "denied", "unknown", "recorded"})
MAX_CREATORS = 100  # actions that are found by what they created


@dataclass(frozen=True, kw_only=True)
class Meant:
    """What words mean to an app above: whose accounts, which runs, and which things by their ids
    at the provider (rows of policy by their own)."""

    accounts: Collection[UUID] = ()
    runs: Collection[str] = ()
    things: Collection[str] = ()


Look = Callable[[Collection[UUID], str], Meant]


@dataclass
class _Apps:
    look: Look = field(default=lambda tenants, words: Meant())


_apps = _Apps()


def know(look: Look) -> None:
    """From now on words mean, to these organisations, what `look` says."""
    _apps.look = look


def find_actions(
    rows: queries.Rows, words: str, *, tenants: Sequence[UUID], limit: int
) -> list[UUID]:
    """The newest `limit` actions of these rows (each by its latest phase) that the words or the
    whole id are about, newest first, looked for in the organisations named."""
    states, rest = _split(words.split())
    recent = keep_recent(rows, tenants)
    if rest:
        parts = list(_about(rows, recent, rest, tenants))
        if states:
            parts = [one.filter(status__in=states) for one in parts]
    else:
        parts = [queries.keep_status(rows if one in IN_INDEX else recent, one) for one in states]
    if not parts:
        return []
    newest = [one.order_by("-action_id").values_list("action_id", flat=True) for one in parts]
    first, *others = (one[:limit] for one in newest)
    return sorted(set(first.union(*others, all=True)), reverse=True)[:limit]


def find_newest(words: str, *, tenants: Sequence[UUID], limit: int) -> tuple[Recorded, ...]:
    """As `find_actions`, of all rows of these organisations, with their contents as far as they
    open."""
    rows = queries.select_latest(queries.select_phases()).filter(tenant_id__in=tenants)
    ids = find_actions(rows, words, tenants=tenants, limit=limit)
    found = queries.join_payload(rows.filter(action_id__in=ids)).order_by("-action_id")
    return selectors.readable(found)[0] if ids else ()


def keep_recent(rows: queries.Rows, tenants: Sequence[UUID]) -> queries.Rows:
    """Those of actions among the newest NEWEST rows of these organisations."""
    return rows.filter(action_id__gt=_last_before(tenants))


def _split(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The states that words name, as people read them or as the ledger has them, and the rest."""
    named: dict[str, list[str]] = {}
    for status, word in STATES.items():
        for name in {status, word.casefold()}:
            named[name] = [*named.get(name, []), status]
    found = [one for word in words for one in named.get(word.casefold(), ())]
    return list(dict.fromkeys(found)), [one for one in words if one.casefold() not in named]


def _last_before(tenants: Sequence[UUID]) -> Coalesce:
    """The action before the newest rows; all zeros where there are no more."""
    rows = queries.select_phases().filter(tenant_id__in=tenants).order_by("-action_id", "-id")
    last = Subquery(rows.values("action_id")[NEWEST : NEWEST + 1])
    return Coalesce(last, Value(UUID(int=0), output_field=UUIDField()))


def _about(
    rows: queries.Rows, recent: queries.Rows, words: Sequence[str], tenants: Sequence[UUID]
) -> Iterator[queries.Rows]:
    """Those that the words are about, by each way in which they can be."""
    phrase = " ".join(words)
    meant = _apps.look(tenants, phrase)
    yield _with_columns(recent, words)
    # One account at a time: of several PostgreSQL would read and sort all rows.
    yield from (rows.filter(account_id=one) for one in meant.accounts)
    yield rows.filter(_is_named("run_id"), run_id__in=[phrase, *meant.runs])
    keys = [
        provider_side.digest(tenant, one) for tenant in tenants for one in (phrase, *meant.things)
    ]
    yield rows.filter(_is_named("resource_key"), resource_key__in=keys)
    # The id itself is in rows from before ids were keyed.
    named = [phrase, *(provider_side.digest(tenant, phrase) for tenant in tenants)]
    creators = ActionArtifact.objects.filter(tenant_id__in=tenants, external_id__in=named)
    newest = creators.order_by("-action_id").values("action_id")[:MAX_CREATORS]
    yield rows.filter(action_id__in=newest)


def _with_columns(rows: queries.Rows, words: Sequence[str]) -> queries.Rows:
    """Those that have each of the words in one of the columns."""
    texts = [part for name in COLUMNS for part in (F(name), Value(" "))]
    found = rows.alias(in_the_clear=Concat(*texts, output_field=CharField()))
    for word in words:
        found = found.filter(in_the_clear__icontains=word)
    return found


def _is_named(column: str) -> Q:
    """Words of the statement, as in the index of such rows: see `queries.keep_about_ledger`."""
    return Q(Func(F(column), template="(%(expressions)s <> '')", output_field=BooleanField()))
