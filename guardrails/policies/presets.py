"""Ready-made policy that operators start from."""

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from uuid import UUID

from django.db import transaction

from guardrails.actions import registry
from guardrails.decide.policy_file import PolicyFile
from guardrails.models import AllowedActionOption, TargetGroup
from guardrails.policies.text import PolicyFileError, read
from guardrails.policies.thread_states import FOLLOW_UP, THREAD_STATUS
from integrations.contracts import Named
from integrations.models import Account
from integrations.ports.registry import BY_SOURCE

# The policy of a new account: private actions are free, receivers must be colleagues, typed, listed
# or written to before, and whom the user did not name is asked about. One file a kind.
DEFAULT = "new-account"
FOLDER = resources.files("guardrails.policies").joinpath("preset_files")


def default_for(source: str) -> str:
    """The name of the preset that a new account of this source starts from."""
    return f"{DEFAULT}-{BY_SOURCE[source].kind}"


def list_names() -> list[str]:
    """The policies that come with Remit."""
    return sorted(one.name.removesuffix(".yaml") for one in FOLDER.iterdir())


def load(name: str) -> str:
    """The text of a policy that comes with Remit. Raises PolicyFileError."""
    if name not in list_names():
        raise PolicyFileError(f"There is no preset “{name}”. Known: {', '.join(list_names())}.")
    return FOLDER.joinpath(f"{name}.yaml").read_text("utf-8")


@dataclass(frozen=True, kw_only=True)
class Preset:
    """What a preset is called and what it is for, as the first line of its file has both."""

    title: str
    about: str


def list_for(account: Account) -> dict[str, Preset]:
    """The presets that fit an account of this source, by name."""
    default = default_for(account.source)
    names = sorted(list_names(), key=lambda name: (name != default, name))
    texts = {name: load(name) for name in names}
    return {name: _describe(text) for name, text in texts.items() if _fits(account, read(text))}


def thread_status(*, account_id: UUID, labels: Iterable[Named]) -> TargetGroup:
    """The single-choice group of the four states a mail thread can be in, with a target for
    each, and for “Follow Up” where there is such a label. Names are resolved to the ids in
    `labels`, the provider's labels as they are now. Doing it again changes nothing but names.
    Raises ValueError naming labels that are missing.
    """
    found = {label.name: label.id for label in labels}
    missing = [name for name in THREAD_STATUS if name not in found]
    if missing:
        raise ValueError(f"Create these labels at the provider first: {', '.join(missing)}.")
    source = Account.objects.values_list("source", flat=True).get(pk=account_id)
    with transaction.atomic():
        group, _ = TargetGroup.objects.update_or_create(
            account_id=account_id,
            name="Thread status",
            defaults={"cardinality": TargetGroup.Cardinality.SINGLE},
        )
        for name in (*THREAD_STATUS, *({FOLLOW_UP} & found.keys())):
            AllowedActionOption.objects.update_or_create(
                account_id=account_id,
                action_type="classify",
                resource_type="",
                source=source,
                kind="label",
                external_id=found[name],
                defaults={"name": name, "group": group},
            )
    return group


def _describe(text: str) -> Preset:
    title, _, about = text.partition("\n")[0].removeprefix("# ").partition(": ")
    return Preset(title=title, about=about)


def _fits(account: Account, policy: PolicyFile) -> bool:
    actions = [registry.BY_NAME.get(one.action) for one in policy.allowed_actions or ()]
    return all(action and action.works_on(account.source) for action in actions)
