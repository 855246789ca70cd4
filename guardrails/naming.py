"""Bringing the names of listed targets up to date with the provider, when an operator asks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from guardrails import changes
from guardrails.changes import Author
from guardrails.models import AllowedActionOption
from integrations import reads
from integrations.contracts import AccountRef

CATALOGUES = {("gmail", "label"): "labels", ("jira", "project"): "projects"}


@dataclass(kw_only=True)
class Refreshed:
    """What became of the targets: renamed (old and new name), and those that are gone."""

    renamed: list[tuple[str, str]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)


def refresh_names(options: Iterable[AllowedActionOption], *, author: Author) -> Refreshed:
    """Take over the provider's present names for labels and projects. Ids are never changed,
    and a target that is gone stays listed: it is refused until somebody removes it. Raises
    ProviderError. The options need `account__organisation` loaded."""
    wanted = defaultdict(list)
    for option in options:
        catalogue = CATALOGUES.get((option.source, option.kind))
        if catalogue:
            wanted[(option.account.ref(), catalogue)].append(option)
    found = Refreshed()
    for (account, catalogue), rows in wanted.items():
        names = _names(account, catalogue)
        for option in rows:
            present = names.get(option.external_id)
            if present is None:
                found.gone.append(option.name)
            elif present != option.name:
                found.renamed.append((option.name, present))
                option.name = present
                with changes.recording(AllowedActionOption, [option.pk], author=author):
                    option.save()
    return found


def _names(account: AccountRef, catalogue: str) -> Mapping[str, str]:
    reader = reads.reader(account)
    listed = reader.labels() if catalogue == "labels" else reader.projects()
    return {one.id: one.name for one in listed}
