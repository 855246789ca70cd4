"""The ledger's months: its rows lie in partitions by the month of their action's id."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from django.db import connections

from audit.ledger.routing import LEDGER

AHEAD = 3

# How many of the three tables have each month. With less it takes no rows.
MONTHS = """
SELECT to_date(right(c.relname, 7), 'YYYY_MM')
FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
WHERE i.inhparent = ANY('{audit_action,audit_payload,audit_artifact}'::regclass[])
GROUP BY 1 HAVING (count(*) = 3) = %s
ORDER BY 1
"""


@dataclass(frozen=True, order=True)
class Month:
    """A calendar month in UTC."""

    first: date

    @classmethod
    def of(cls, at: datetime) -> "Month":
        return cls(at.date().replace(day=1))

    @classmethod
    def parse(cls, text: str) -> "Month":
        """The month of `2026-11`. Raises ValueError."""
        return cls(date.fromisoformat(f"{text}-01"))

    @property
    def following(self) -> "Month":
        return Month((self.first + timedelta(days=31)).replace(day=1))

    @property
    def preceding(self) -> "Month":
        return Month((self.first - timedelta(days=1)).replace(day=1))

    @property
    def bounds(self) -> tuple[datetime, datetime]:
        """Its first moment and that of the next month."""
        first, last = (datetime.combine(one.first, time(), UTC) for one in (self, self.following))
        return first, last

    @property
    def suffix(self) -> str:
        """What the names of its partitions end in."""
        return f"{self.first:%Y_%m}"

    def __str__(self) -> str:
        return f"{self.first:%Y-%m}"


def list_months() -> list[Month]:
    """The months that the ledger has, oldest first."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(MONTHS, [True])
        return [Month(row[0]) for row in cursor.fetchall()]


def find_broken() -> list[str]:
    """A sentence for each month that lacks one of its tables: it takes no rows, or lost some."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute(MONTHS, [False])
        return [
            f"The ledger's month {Month(row[0])} lacks the table of its rows, payloads or "
            "artifacts. Restore it from a backup; where the month holds nothing yet, drop the "
            "other tables and make it again with: manage.py make_ledger_months"
            for row in cursor.fetchall()
        ]


def are_installed() -> bool:
    """Whether the ledger was divided into months yet."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT to_regproc('audit_make_months_ahead') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def make_ahead(months: int = AHEAD) -> list[Month]:
    """Make this month and the next ones where they are missing; returns those it made."""
    with connections[LEDGER].cursor() as cursor:
        cursor.execute("SELECT * FROM audit_make_months_ahead(%s)", [months])
        return [Month(row[0]) for row in cursor.fetchall()]


def find_missing(have: list[Month], *, now: datetime) -> list[str]:
    """A sentence for this month and the next one, if the ledger lacks it."""
    this = Month.of(now)
    return [
        f"The ledger has no month {month}: what is asked for then is refused."
        for month in (this, this.following)
        if month not in have
    ]
