"""What connecting is like at every tracker: a token in place of a password, and projects to choose
from."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime

from integrations.contracts import AccountRef
from integrations.providers.connectable import (
    USERS_ADDRESS,
    Asked,
    Connectable,
    Found,
    Given,
    Look,
    Looked,
    Secret,
    Trial,
    port_of,
)
from integrations.providers.trackers import changes
from integrations.providers.trackers.reader import TrackerReader
from integrations.providers.trackers.trial import Tried


def tracker(
    *,
    product: str,
    about: str,
    begin: Callable[[Given], Trial],
    reader: Callable[[AccountRef], TrackerReader],
    token: str,
    who: str,
    asked: Sequence[Asked],
    first: Sequence[Asked] = (),
    fold: str = "Which projects",
) -> Connectable:
    """`who` it is that is let in no more: the token, or its user."""
    return Connectable(
        what="tracker",
        title=f"Connect {product} issues",
        about=about,
        in_short=f"issues at {product}",
        begin=begin,
        first=tuple(first),
        more=tuple(asked),
        fold=fold,
        secret=Secret(label="Token", hint=token),
        address_hint=USERS_ADDRESS,
        has_display_name=False,
        command="connect_issues",
        look=looking(reader),
        trouble={"not_permitted": f"{product} does not let this {who} read issues any more."},
    )


def projects(*, placeholder: str, label: str = "Only in these projects") -> Asked:
    return Asked(
        name="projects",
        label=label,
        hint="With commas between them. Empty: all that the token shows.",
        placeholder=placeholder,
    )


def trial(url: str, try_it: Callable[[], Tried]) -> Trial:
    def run() -> Found:
        tried = try_it()
        return Found(
            host=tried.host,
            abilities=tried.abilities,
            servers=tried.server,
            projects=tried.projects,
        )

    return Trial(ports=(port_of(url),), run=run)


def looking(reader: Callable[[AccountRef], TrackerReader]) -> Look:
    def look(account: AccountRef, *, seen_at: datetime | None) -> Iterable[Looked]:
        return changes.look(account, reader(account))

    return look
