"""The rules that guided setup chose for an account. They wait in shadow, those of a mailbox while
they are tried on past mail, and become live only when somebody switches them on."""

from django.db.models import QuerySet

from agents.models import PastRun
from guardrails.decide.policy_file import PolicyFile
from guardrails.models import ShadowPolicy
from guardrails.policies import files as policy_files, shadow, text as policy_text
from guardrails.policies.changes import Author
from integrations.models import Account

NOTE = "Guided setup"


def find_waiting(account: Account | None) -> ShadowPolicy | None:
    """The rules that were chosen and are not live."""
    return ShadowPolicy.objects.filter(account=account).first() if account else None


def list_trials(account: Account | None, waiting: ShadowPolicy | None) -> QuerySet[PastRun]:
    """Trials of the rules that wait; where none do, of those that hold."""
    rows = PastRun.objects.filter(account=account, is_trial=True)
    return rows.filter(policy=waiting.content) if waiting else rows


def renew(account: Account, *, author: Author) -> None:
    """What may be touched was picked anew: the rules that wait are about that, and are tried again.
    A file of somebody's own, with targets of its own, stays as it is."""
    waiting = find_waiting(account)
    if waiting is None or waiting.note != NOTE:
        return
    chosen = policy_text.parsed(waiting.content)
    wanted = PolicyFile(version=1, allowed_actions=chosen.allowed_actions)
    if policy_files.whole(account, wanted) != chosen:
        shadow.start(account, wanted, note=NOTE, author=author)
