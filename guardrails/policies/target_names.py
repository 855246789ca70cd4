"""Bringing the names of listed targets up to date with the provider, when an operator asks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from guardrails.facts.facts import Need
from guardrails.facts.targets import Catalogue
from guardrails.gather.lookups import gather
from guardrails.models import AllowedActionOption
from guardrails.policies import changes
from guardrails.policies.changes import Author
from integrations.accounts import reads
from integrations.contracts import AccountRef

CATALOGUES: Mapping[tuple[str, str], Catalogue] = {
    ("mail", "label"): "labels",
    ("issues", "project"): "projects",
    ("mail", "folder"): "mail_folders",
    ("files", "folder"): "drive_folders",
}


@dataclass(kw_only=True)
class Refreshed:
    """What became of the targets: renamed (old and new name), and those that are gone."""

    renamed: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def refresh_names(targets: Iterable[AllowedActionOption], *, author: Author) -> Refreshed:
    """Use the provider's present names for labels, folders and projects. Ids are
    never changed, and a target that is gone stays listed: it is refused until somebody removes
    it. Raises ProviderError. The targets need `account__organisation` loaded."""
    wanted = defaultdict(list)
    for target in targets:
        catalogue = CATALOGUES.get((target.account.kind, target.kind))
        if catalogue:
            wanted[(target.account.ref(), catalogue)].append(target)
    found = Refreshed()
    for (account, catalogue), rows in wanted.items():
        names = read_names(account, catalogue)
        for target in rows:
            present = names.get(target.external_id)
            if present is None:
                found.gone.append(target.name)
            elif present != target.name:
                found.renamed.append((target.name, present))
                target.name = present
                with changes.recording(AllowedActionOption, [target.pk], author=author):
                    target.save()
    return found


def read_names(account: AccountRef, catalogue: Catalogue) -> Mapping[str, str]:
    """What the provider has of it now, names by id. Raises ProviderError."""
    needs: dict[Catalogue, Need] = {"labels": "labels", "projects": "projects"}
    facts = gather(
        reads.reader(account),
        object_kind=None,
        object_id=None,
        needs=frozenset({needs.get(catalogue, "folders")}),
        own_address=account.address,
    )
    found: Mapping[str, str] = getattr(facts, catalogue)
    return found
