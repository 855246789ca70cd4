"""Targets that people pick: from the catalogue of the account's own labels, folders, projects and
people, by name. What is listed is the id; a name that is none of them is refused."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.timesince import timesince

from guardrails.actions import registry
from guardrails.actions.base import AnyAction
from guardrails.facts.targets import TargetKind
from guardrails.facts.text import visible
from guardrails.models import AllowedActionOption
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.accounts import catalogue, reads
from integrations.exceptions import ProviderError
from integrations.models import Account, ProviderResource

# In which list of the provider a target is, by the kind of account.
LISTS: Mapping[tuple[str, str], str] = {
    ("mail", "label"): "label",
    ("mail", "folder"): "folder",
    ("files", "folder"): "folder",
    ("issues", "project"): "project",
    ("issues", "assignee"): "person",
}
# Lists that help to fill in, and leave anybody else open.
SUGGESTED: Mapping[tuple[str, str], str] = {("mail", "recipient"): "person"}
PLURALS = {"label": "labels", "folder": "folders", "project": "projects", "person": "people"}
FRESH = timedelta(minutes=5)
MOST_NAMES, MOST_OF_ONE_NAME = 500, 5


@dataclass(frozen=True, kw_only=True)
class Use:
    """What a target is listed for: one action of one account, and which of its kinds."""

    account: Account
    action: AnyAction
    kind: TargetKind

    @property
    def kind_name(self) -> str:
        return self.kind.replace("_", " ")

    @property
    def list_name(self) -> str:
        """The list that has it, as people call it; empty where none has."""
        return PLURALS.get(LISTS.get((self.account.kind, self.kind), ""), "")

    @property
    def listed(self) -> str:
        """The type of the rows that have it or help to fill it in; empty: none."""
        key = (self.account.kind, self.kind)
        return LISTS.get(key) or SUGGESTED.get(key, "")


@dataclass(frozen=True, kw_only=True)
class Picked:
    id: str
    name: str

    @property
    def title(self) -> str:
        """The name, with what would be hidden in it."""
        return visible(self.name)


def list_uses(account: Account) -> list[Use]:
    """All that targets can be listed for at this account."""
    return [
        Use(account=account, action=action, kind=kind)
        for action in registry.ACTIONS
        if action.works_on(account.source)
        for kind in action.takes
    ]


def list_choices(use: Use) -> list[Picked]:
    """What the account has of it, by name."""
    return list_all(use.account, {use.listed}).get(use.listed, []) if use.listed else []


def list_all(account: Account, types: Collection[str]) -> dict[str, list[Picked]]:
    """What the account has of each of these types, by name. One query."""
    found: dict[str, list[Picked]] = {}
    rows = ProviderResource.objects.filter(account=account, resource_type__in=types)
    for row in rows.order_by("name", "external_id"):
        picked = Picked(id=row.external_id, name=row.name or row.external_id)
        found.setdefault(row.resource_type, []).append(picked)
    return found


def list_picked(use: Use) -> frozenset[str]:
    """The ids of what is listed for it now."""
    rows = AllowedActionOption.objects.filter(
        account=use.account, action_type=use.action.name, kind=use.kind, resource_type=""
    )
    return frozenset(rows.values_list("external_id", flat=True))


def pick(use: Use, ids: Collection[str], *, author: Author) -> None:
    """List these, and no longer what else the account's lists have. Only what they have can be
    listed so."""
    names = {one.id: one.name for one in list_choices(use)}
    listed = list_picked(use)
    wanted = names.keys() & set(ids)
    new = [
        AllowedActionOption(
            account=use.account,
            action_type=use.action.name,
            source=use.account.source,
            kind=use.kind,
            external_id=one,
            name=names[one],
        )
        for one in sorted(wanted - listed)
    ]
    gone = AllowedActionOption.objects.filter(
        account=use.account,
        action_type=use.action.name,
        kind=use.kind,
        resource_type="",
        external_id__in=(listed & names.keys()) - wanted,
    )
    rows = [*(row.pk for row in new), *gone.values_list("pk", flat=True)]
    with changes.recording(AllowedActionOption, rows, author=author):
        gone.delete()
        for row in new:
            row.save(force_insert=True)


def bring_up_to_date(account: Account) -> str:
    """Read the account's lists where they are not fresh and this process may. Why there are
    none, for people; empty where they were read before or just now."""
    now = timezone.now()
    if account.listed_at and account.listed_at > now - FRESH:
        return ""
    if not reads.can_be_asked_here(account.ref()):
        if account.listed_at is None:
            catalogue.ask_again(account.pk)
            return "Its lists are being read. Look again in a minute."
        return ""
    try:
        read_lists(account)
    except ProviderError as error:
        return f"The provider did not give its lists: {error}."
    return ""


def read_lists(account: Account) -> str:
    """Read the account's lists again, here if this process may. A sentence for people says what
    came of it. Raises ProviderError."""
    if not reads.can_be_asked_here(account.ref()):
        catalogue.ask_again(account.pk)
        return "The lists are being read. They are here in a minute or two."
    catalogue.read(account.ref(), now=timezone.now())
    account.refresh_from_db(fields=["listed_at", "lists_due_at"])
    return "The lists are as the provider has them now."


def describe_age(account: Account) -> str:
    """When the lists were read, in words."""
    if account.listed_at is None:
        return "not read yet"
    if timezone.now() - account.listed_at < timedelta(minutes=1):
        return "read just now"
    return f"read {timesince(account.listed_at, depth=1)} ago"


def resolve(use: Use, typed: str) -> Picked:
    """The one thing at the account that a person named, by its name or its id. What no list has
    is taken as it was typed. Raises ValidationError with what to do."""
    typed = typed.strip()
    if not use.list_name:
        names = {one.id: one.name for one in list_choices(use)}
        return Picked(id=typed, name=names.get(typed, typed))
    found = _match(list_choices(use), typed)
    problem = ""
    if not found:
        problem = _read_for(use.account)
        found = _match(list_choices(use), typed)
    if len(found) == 1:
        return found[0]
    if found:
        ids = ", ".join(f"“{visible(one.id)}”" for one in found[:5])
        raise ValidationError(
            f"{len(found)} {use.list_name} are called “{visible(typed)}”. Fill in the id of the "
            f"one that you mean: {ids}."
        )
    raise ValidationError(_explain(use, typed, problem))


def list_names(account: Account) -> list[str]:
    """What the account has, by name, to be picked from; not what hides something in its name."""
    rows = ProviderResource.objects.filter(account=account).exclude(name="")
    names = set(rows.values_list("name", flat=True)[:MOST_NAMES])
    return sorted((name for name in names if visible(name) == name), key=str.casefold)


def find_ids(account: Account, typed: str) -> list[str]:
    """The ids of what the account has under this name; else what was typed is the id itself."""
    rows = ProviderResource.objects.filter(account=account, name__iexact=typed)
    return sorted(set(rows.values_list("external_id", flat=True)[:MOST_OF_ONE_NAME])) or [typed]


def _match(choices: Iterable[Picked], typed: str) -> list[Picked]:
    """By id, else by exact name, else by the name in other capitals."""
    known = list(choices)
    folded = typed.casefold()
    return (
        [one for one in known if one.id == typed]
        or [one for one in known if one.name == typed]
        or [one for one in known if one.name.casefold() == folded]
    )


def _read_for(account: Account) -> str:
    """Look whether the provider has it by now; the problem, where it cannot be asked."""
    if not reads.can_be_asked_here(account.ref()):
        catalogue.ask_again(account.pk)
        return "asked"
    try:
        read_lists(account)
    except ProviderError as error:
        return str(error) or error.code
    return ""


def _explain(use: Use, typed: str, problem: str) -> str:
    said = f"“{visible(typed)}” is not among the {use.list_name} of this account"
    if use.account.listed_at is None:
        said = f"The {use.list_name} of this account were not read yet"
    if problem == "asked":
        return f"{said}. They are being read again: save once more in a minute, or pick another."
    if problem:
        return (
            f"{said} ({describe_age(use.account)}), and the provider does not answer now. Pick one "
            "from the list, or save again later: nothing that you filled in is lost."
        )
    return f"{said}. Pick one from the list, or make it at the provider first and save again."


@dataclass(kw_only=True)
class Refreshed:
    """What became of the targets: renamed (old and new name), and those that are gone."""

    renamed: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def refresh_names(targets: Iterable[AllowedActionOption], *, author: Author) -> Refreshed:
    """Use the provider's present names for what is in a list of it. Ids are never changed, and
    a target that is gone stays listed: it is refused until somebody removes it. Raises
    ProviderError. The targets need `account__organisation` loaded."""
    found = Refreshed()
    names: dict[tuple[object, str], dict[str, str]] = {}
    read: set[object] = set()
    for target in targets:
        resource_type = LISTS.get((target.account.kind, target.kind))
        if not resource_type:
            continue
        if target.account_id not in read:
            read_lists(target.account)
            read.add(target.account_id)
        key = (target.account_id, resource_type)
        if key not in names:
            rows = ProviderResource.objects.filter(
                account_id=target.account_id, resource_type=resource_type
            )
            names[key] = dict(rows.values_list("external_id", "name"))
        present = names[key].get(target.external_id)
        if present is None:
            found.gone.append(target.name)
        elif present != target.name:
            found.renamed.append((target.name, present))
            target.name = present
            with changes.recording(AllowedActionOption, [target.pk], author=author):
                target.save()
    return found
