"""Trials of this installation as it is. They read and change nothing."""

from datetime import timedelta

from django.conf import settings
from django.core import checks
from django.db import connections
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from agents.installation.guarantees import Broken, NotApplicable, expect
from audit.contracts import CLOCKS_APART
from audit.database import grants, guards, start
from audit.ledger import months
from audit.ledger.routing import LEDGER
from audit.ledger.selectors import open_attempts
from audit.seals import progress
from audit.verification.rows import Verification
from guardrails.models import Approval
from integrations.models import Credential

NEWEST = timedelta(days=1)
AT_WORK = timedelta(hours=1)
THIS_MACHINE = {"127.0.0.1", "localhost", "[::1]"}
SHORTEST_SECRET = 24  # characters


def tables_are_up_to_date() -> None:
    """The tables are those of this version."""
    executor = MigrationExecutor(connections["default"])
    waiting = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if waiting:
        raise Broken(f"{len(waiting)} migrations wait. Run: manage.py migrate")


def ledger_is_guarded() -> None:
    """Every trigger and check that keeps the ledger as it is, is in place and unchanged."""
    _none(guards.find_problems())


def rights_on_the_ledger() -> None:
    """No database role has more rights on the ledger than its work needs."""
    _none(grants.find_problems())


def roles_are_separate() -> None:
    """Where programs have database roles of their own, none of them owns the ledger."""
    if not grants.load_role().is_separate:
        raise NotApplicable(
            "One role does everything here, and only the seals would show what it changes. "
            "manage.py ledger_roles gives each program its own."
        )
    _none(grants.find_missing_layers())


def months_are_ahead() -> None:
    """The ledger has room for this month and the next."""
    _none([*months.find_broken(), *months.find_missing(months.list_months(), now=timezone.now())])


def contents_can_be_read() -> None:
    """The key at hand is the one that the ledger's contents were written with."""
    if not settings.LEDGER_VAULT_KEY:
        raise NotApplicable("LEDGER_VAULT_KEY is not set for this process.")
    _none(start.find_wrong_vault_key())


def seals_keep_up() -> None:
    """No record has waited for its seal for longer than a minute."""
    waited = progress.load_oldest_wait()
    if waited is not None and waited > timedelta(seconds=progress.BEHIND_SECONDS):
        raise Broken(f"The oldest has waited for {waited}. Is manage.py seal_ledger running?")


def newest_records_verify() -> None:
    """What was recorded and sealed within a day is as it was recorded."""
    verification = Verification(since=timezone.now() - NEWEST)
    found = [str(one) for one in verification]
    _none(found)
    if not verification.rows:
        raise NotApplicable("Nothing was recorded within a day.")


def no_attempt_is_forgotten() -> None:
    """No write has been without an outcome for longer than an hour."""
    old = open_attempts(older_than=timezone.now() - AT_WORK, limit=1)
    if old:
        raise Broken(
            f"Action {old[0].action_id} was attempted at {old[0].recorded_at:%Y-%m-%d %H:%M %Z}."
        )


def clocks_agree() -> None:
    """The clocks of this machine and of the database agree within two seconds."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (there,) = cursor.fetchone()
    apart = abs(timezone.now() - there)
    if apart > CLOCKS_APART:
        raise Broken(f"They are {apart} apart.")


def settings_are_those_of_a_deployment() -> None:
    """Django finds nothing in the settings that a deployment must not have."""
    if set(settings.ALLOWED_HOSTS) <= THIS_MACHINE:
        raise NotApplicable("It is reached from this machine alone.")
    found = checks.run_checks(include_deployment_checks=True)
    _none([str(one.msg) for one in found if one.level >= checks.WARNING])


def no_page_of_a_fault() -> None:
    """Nobody is shown the inside of a fault."""
    expect("DEBUG is", settings.DEBUG, False)


def secrets_are_long() -> None:
    """Secrets are long, and no two are the same."""
    named = {
        name: str(getattr(settings, name, "") or "")
        for name in ("SECRET_KEY", "LEDGER_KEY", "LEDGER_VAULT_KEY", "LEDGER_SIGNING_KEY")
    }
    given = {name: value for name, value in named.items() if value}
    _none([f"{name} is short." for name, value in given.items() if len(value) < SHORTEST_SECRET])
    if len(set(given.values())) < len(given):
        raise Broken(f"Two of these are the same: {', '.join(given)}.")


def webhooks_are_signed() -> None:
    """Every organisation that webhooks come for has a secret of its own."""
    if not settings.WEBHOOK_SECRETS:
        raise NotApplicable("No webhooks are taken.")
    values = [*settings.WEBHOOK_SECRETS.values()]
    _none([f"{slug} has none." for slug, value in settings.WEBHOOK_SECRETS.items() if not value])
    if len(set(values)) < len(values):
        raise Broken("Two organisations have the same.")


def credentials_are_sealed() -> None:
    """Passwords of people's accounts are stored so that the web process cannot read them."""
    if not Credential.objects.exists():
        raise NotApplicable("No account is signed in to.")
    if settings.PROCESS == "web" and settings.CREDENTIALS_PRIVATE_KEY:
        raise Broken("The web process has the key that opens them.")
    short = Credential.objects.filter(sealed=b"").count()
    expect("Credentials without a seal", short, 0)


def accounts_are_signed_in() -> None:
    """No account waits for its user to sign in again."""
    if not Credential.objects.exists():
        raise NotApplicable("No account is signed in to.")
    waiting = Credential.objects.filter(state=Credential.State.SIGN_IN).count()
    expect("Accounts that wait", waiting, 0)


def no_answer_is_overdue() -> None:
    """No request waits for a person after its deadline."""
    late = timezone.now() - AT_WORK
    overdue = Approval.objects.filter(state=Approval.State.PENDING, expires_at__lt=late).count()
    expect("Overdue requests", overdue, 0)


def _none(found: list[str]) -> None:
    if found:
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        raise Broken(f"{found[0]}{more}")


TRIALS = (
    tables_are_up_to_date,
    ledger_is_guarded,
    rights_on_the_ledger,
    roles_are_separate,
    months_are_ahead,
    contents_can_be_read,
    seals_keep_up,
    newest_records_verify,
    no_attempt_is_forgotten,
    no_answer_is_overdue,
    clocks_agree,
    settings_are_those_of_a_deployment,
    no_page_of_a_fault,
    secrets_are_long,
    webhooks_are_signed,
    credentials_are_sealed,
    accounts_are_signed_in,
)
