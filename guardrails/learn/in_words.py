"""What a pattern does to a mail, with labels and folders by the names that people know them by."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, Value
from django.utils.translation import gettext

from guardrails.facts.targets import place_of
from guardrails.facts.text import visible
from guardrails.models import AllowedActionOption, LearnedPattern
from integrations.models import ProviderResource

Names = Mapping[tuple[UUID, str], str]  # by account and the provider's id


def load_names(patterns: Iterable[LearnedPattern]) -> Names:
    """What the things in the arguments of these patterns are called: as the account's lists have
    it, else as it was listed as a target. What has no name there is absent. One query, where the
    actions were read with the patterns."""
    ids: dict[UUID, set[str]] = {}
    for pattern in patterns:
        values = (value for step in pattern.actions.all() for value in step.arguments.values())
        ids.setdefault(pattern.account_id, set()).update(map(str, values))
    wanted = {"account_id__in": ids, "external_id__in": set().union(*ids.values())}
    tables: tuple[QuerySet[Any], ...] = (
        AllowedActionOption.objects.all(),
        ProviderResource.objects.all(),
    )
    listed, known = (
        table.filter(**wanted)
        .exclude(name="")
        .order_by()
        .annotate(place=Value(place))
        .values_list("account_id", "external_id", "name", "place")
        for place, table in enumerate(tables)
    )
    rows = listed.union(known).order_by("place")  # of two names the later one stays
    return {(account_id, external_id): name for account_id, external_id, name, _ in rows}


def describe_arguments(account_id: UUID, arguments: Mapping[str, Any], names: Names) -> str:
    """In the language that is spoken: “label: News”. The id stands where there is no name."""
    return ", ".join(
        f"{gettext(place_of(path).removesuffix(' id'))}: "
        f"{visible(names.get((account_id, str(value)), str(value)))}"
        for path, value in arguments.items()
    )
