"""What a decision costs, against a plain dictionary and against Cedar on the same rules.

    make bench NAME=decide

One account has 20 allowed actions with 20 targets each. `decide` is what is timed: the canonical
arguments are parsed, every check is made and put into words, and the provenance of each value
is found. The facts are there already: nothing is read. The policy was read before. Its digest
is computed once for each reading, and so is what it says of a type of action whatever the
arguments are; what the user typed is read once for a turn's requests. So these belong to the
second measure: the rows fetched from PostgreSQL, the words read, then decided. `words_us` is the
part of the words. Both are repeated while other accounts fill the tables.

Two floors in the same run, in turns, on the same 400 targets: one look-up in a dictionary, and
Cedar (cedarpy) with its policies parsed before. Both only answer whether a target is listed;
neither parses arguments, nor says why. The last line is JSON. A database of its own is made,
and removed at the end.
"""

import json
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.database import own_database  # after the path

OTHERS = (10, 1_000, 100_000)  # rules of other accounts
OWN_RULES = OWN_TARGETS = 20
ROUNDS, CALLS = 40, 50
LOOK_UPS = 100  # timed together: one is quicker than a clock
FETCHES = 200
Act = Callable[[], object]


def account(organisation: Any, number: int) -> Any:
    from integrations.models import Account

    return Account(
        organisation=organisation,
        external_user_id=f"user-{number}",
        source="gmail",
        address=f"user-{number}@company.com",
        display_name=f"User {number}",
    )


def places() -> list[tuple[str, str]]:
    """20 different places of an allowed action: every action, some for one type of thing too."""
    from guardrails.actions import registry

    general = [(one.name, "") for one in registry.ACTIONS]
    return (general + [(one.name, one.resource_type) for one in registry.ACTIONS])[:OWN_RULES]


def allowed_actions(owner: Any, number: int) -> list[Any]:
    from guardrails.models import AllowedAction

    return [
        AllowedAction(
            account=owner, action_type=action, resource_type=resource, approval_mode="auto"
        )
        for action, resource in places()[:number]
    ]


def targets(owner: Any) -> list[Any]:
    from guardrails.actions import registry
    from guardrails.models import AllowedActionOption

    found = []
    for action, resource in places():
        kinds = registry.BY_NAME[action].takes or ("label",)
        for number in range(OWN_TARGETS):
            name = f"p{number}@client.com" if kinds[0] == "recipient" else f"target_{number}"
            found.append(
                AllowedActionOption(
                    account=owner,
                    action_type=action,
                    resource_type=resource,
                    source=owner.source,
                    kind=kinds[0],
                    external_id=name,
                    name=name,
                )
            )
    return found


def store(rows: Sequence[Any]) -> None:
    from django.db.models import QuerySet

    # Django's own queryset: some of these are for actions of another source, which
    # ours refuse and which cost a decision just the same.
    QuerySet(type(rows[0])).bulk_create(rows, batch_size=2_000)


def fill(organisation: Any, wanted: int) -> None:
    """Rules of other accounts of the same organisation, up to `wanted`."""
    from guardrails.models import AllowedAction
    from integrations.models import Account

    missing = wanted - (AllowedAction.objects.count() - OWN_RULES)
    first = Account.objects.count()
    owners = [account(organisation, first + number) for number in range(-(-missing // OWN_RULES))]
    store(owners)
    store([row for owner in owners for row in allowed_actions(owner, OWN_RULES)][:missing])
    query("ANALYZE")


def query(statement: str) -> list[Any]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)
        return list(cursor.fetchall()) if cursor.description else []


def facts() -> Any:
    from datetime import UTC, datetime

    from guardrails.facts.facts import Facts
    from integrations.contracts import Authentication, Email, Mailbox

    mail = Email.model_validate(
        {
            "id": "mail-1",
            "thread_id": "thread-1",
            "from": "ada@client.com",
            "to": ["user-0@company.com"],
            "subject": "Lunch on Friday?",
            "date": datetime.now(UTC),
            "labels": ("INBOX", "UNREAD"),
            "authentication": Authentication(dmarc="pass"),
        }
    )
    return Facts(
        email=mail,
        thread=(mail,),
        labels={f"target_{number}": f"target_{number}" for number in range(OWN_TARGETS)},
        mailbox=Mailbox(address="user-0@company.com", shared_with=()),
        own_address="user-0@company.com",
        alert="",
    )


def requests(ref: Any) -> dict[str, Any]:
    """What is decided: two that are allowed, one that asks a person, one that is refused."""
    from audit.ledger.ids import uuid7
    from guardrails.contracts import ActionRequest, Origin

    mail = {"subject": "Friday", "body": "See you at the station at noon."}
    wishes: dict[str, tuple[str, dict[str, Any]]] = {
        "archive": ("archive", {"email_id": "mail-1"}),
        "classify": ("classify", {"email_id": "mail-1", "label_id": "target_19"}),
        "send_email asked": ("send_email", {"to": ["p19@client.com"], **mail}),
        "send_email refused": ("send_email", {"to": ["mallory@evil.example"], **mail}),
    }
    return {
        name: ActionRequest(
            action_id=uuid7(),
            account=ref,
            action_type=action_type,
            arguments=arguments,
            origin=Origin(trigger="chat", turn_id="turn-1", user_words="Please do that."),
        )
        for name, (action_type, arguments) in wishes.items()
    }


def timed(acts: dict[str, Act]) -> dict[str, float]:
    """The median of one call in microseconds, of each in turns."""
    taken: dict[str, list[int]] = {name: [] for name in acts}
    for _ in range(ROUNDS):
        for name, act in acts.items():
            for _ in range(CALLS):
                begun = time.perf_counter_ns()
                act()
                taken[name].append(time.perf_counter_ns() - begun)
    return {name: statistics.median(each) / 1000 for name, each in taken.items()}


def anew(act: Act) -> Act:
    """The same with words that nobody has read yet."""
    from guardrails.words.heard import read

    def forgetting() -> object:
        read.cache_clear()
        return act()

    return forgetting


def dictionary(policy: Any) -> Act:
    listed = {(one.action_type, one.kind, one.external_id): one.id for one in policy.listed_targets}
    wanted = "classify", "label", "target_19"

    def look_up() -> None:
        for _ in range(LOOK_UPS):
            listed.get(wanted)

    return look_up


def cedar(policy: Any) -> Act:
    import cedarpy

    rules = "\n".join(
        f'permit(principal == Account::"1", action == Action::"{one.action_type}", '
        f'resource == Target::"{one.kind} {one.external_id}");'
        for one in policy.listed_targets
    )
    parsed = cedarpy.PolicySet.from_str(rules)
    nobody = cedarpy.Entities.from_json_str("[]")
    request = {
        "principal": 'Account::"1"',
        "action": 'Action::"classify"',
        "resource": 'Target::"label target_19"',
    }
    if not cedarpy.is_authorized(request, parsed, nobody).allowed:
        raise SystemExit("Cedar should have allowed this.")
    return lambda: cedarpy.is_authorized(request, parsed, nobody)


def deciding(ref: Any) -> dict[str, Any]:
    """Decisions on a policy that was read before, beside the two floors."""
    from django.utils import timezone

    from guardrails.actions import registry
    from guardrails.contracts import Decision
    from guardrails.decide.policy import decide
    from guardrails.gather.policy_rows import policy_snapshot

    policy, known, now = policy_snapshot(ref), facts(), timezone.now()
    wishes = requests(ref)

    def deciding_on(request: Any) -> Callable[[], Decision]:
        action = registry.BY_NAME[request.action_type]
        return lambda: decide(request=request, action=action, policy=policy, facts=known, now=now)

    verdicts = [deciding_on(one)().verdict for one in wishes.values()]
    if verdicts != ["allow", "allow", "ask", "refuse"]:
        raise SystemExit(f"These decisions are not those that were to be measured: {verdicts}")

    floors = {"dictionary": dictionary(policy), "cedarpy": cedar(policy)}
    acts = {name: deciding_on(one) for name, one in wishes.items()}
    found = timed(acts | {"new words": anew(acts["classify"])} | floors)
    decisions = {name: round(found[name], 1) for name in wishes}
    return {
        "p50_us": round(statistics.median(decisions.values()), 1),
        "by_action_us": decisions,
        "words_us": round(found["new words"] - found["classify"], 1),
        "dictionary_us": round(found["dictionary"] / LOOK_UPS, 3),
        "cedarpy_us": round(found["cedarpy"], 1),
    }


def fetching(ref: Any) -> dict[str, float]:
    """The policy's rows fetched, its digest computed, and one decision, in milliseconds. The
    floor, in turns, is its rules and targets fetched by plain statements and nothing more."""
    from django.utils import timezone

    from guardrails.actions import registry
    from guardrails.decide.policy import decide
    from guardrails.gather.policy_rows import policy_snapshot

    request, known = requests(ref)["classify"], facts()
    action = registry.BY_NAME[request.action_type]
    taken, bare, busy = [], [], 0.0

    def deciding() -> None:
        policy = policy_snapshot(ref)
        decide(request=request, action=action, policy=policy, facts=known, now=timezone.now())

    for _ in range(FETCHES):
        begun, own = time.perf_counter(), time.process_time()
        anew(deciding)()
        busy += time.process_time() - own
        between = time.perf_counter()
        for table in ("allowedaction", "allowedactionoption"):
            query(f"SELECT * FROM guardrails_{table} WHERE account_id = '{ref.id}'")
        bare.append((time.perf_counter() - between) * 1000)
        taken.append((between - begun) * 1000)
    cuts = statistics.quantiles(taken, n=20)
    return {
        "p50_ms": round(cuts[9], 2),
        "p95_ms": round(cuts[18], 2),
        "own_cpu_ms": round(busy / FETCHES * 1000, 2),
        "bare_p50_ms": round(statistics.median(bare), 2),
    }


def measure() -> dict[str, Any]:
    from integrations.models import Organisation

    organisation = Organisation.objects.create(slug="company", name="Company")
    owner = account(organisation, 0)
    owner.save()
    store(allowed_actions(owner, OWN_RULES))
    store(targets(owner))
    found: dict[str, Any] = {}
    for others in OTHERS:
        fill(organisation, others)
        found[str(others)] = deciding(owner.ref()) | {"fetched": fetching(owner.ref())}
        print(f"{others:6} rules of others: {found[str(others)]}", flush=True)
    medians = [one["p50_us"] for one in found.values()]
    last = found[str(OTHERS[-1])]
    return {
        "rules_of_others": found,
        "p50_us": last["p50_us"],
        "spread": round(max(medians) / min(medians) - 1, 3),
        "fetched_p95_ms": last["fetched"]["p95_ms"],
        "fetched_to_bare": round(last["fetched"]["p50_ms"] / last["fetched"]["bare_p50_ms"], 1),
        "to_dictionary": round(last["p50_us"] / last["dictionary_us"]),
        "to_cedarpy": round(last["p50_us"] / last["cedarpy_us"], 2),
    }


def main() -> None:
    with own_database():
        print(json.dumps(measure()))


if __name__ == "__main__":
    main()
