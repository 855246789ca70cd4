"""Counts for pages that stay quick however many rows there are."""

from collections import Counter
from typing import Any

from django.db.models import QuerySet, Value


def count_up_to(limit: int, **rows: "QuerySet[Any]") -> Counter[str]:
    """How many rows each queryset has, by its name, `limit` at most: what comes after so many is
    not read. One query for all of them, which are in one database."""
    first, *others = (
        one.order_by().annotate(counted=Value(name)).values_list("counted", flat=True)[:limit]
        for name, one in rows.items()
    )
    return Counter(first.union(*others, all=True))


def say_up_to(limit: int, number: int) -> str:
    """“1,000+” for more than `limit`."""
    return f"{number:,}" if number <= limit else f"{limit:,}+"
