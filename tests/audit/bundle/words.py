"""Rows of every status, with how each was said in each version of a bundle's words; and a bundle
of them from when there was only the first."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple
from uuid import UUID, uuid4

from audit.bundle import verify
from audit.bundle.contents import Bundle
from audit.contracts import Filters, Phase, Status
from audit.ledger import chain, ledger
from tests.audit import sealed
from tests.audit.bundle import files as bundles
from tests.audit.bundle.files import Files
from tests.audit.entries import entry


class Said(NamedTuple):
    phase: Phase
    status: Status
    description: str
    why: str
    first: str
    second: str


ROWS = (
    Said(
        *("attempt", "pending", "Archive: “Lunch”", "The policy permits this."),
        "Begun: Archive: “Lunch”. The policy permits this.",
        "Begun: Archive “Lunch”. The policy permits this.",
    ),
    Said(
        *("control", "succeeded", "Archive: “Lunch”", "Done."),
        "Done: Archive: “Lunch”. Done.",
        "Done: Archive “Lunch”.",
    ),
    Said(
        *("control", "succeeded", "Cancel an event “Lunch: (optional)”", ""),
        "Done: Cancel an event “Lunch: (optional)”.",
        "Done: Cancel an event “Lunch: (optional)”.",
    ),
    Said(
        *("control", "noop", "Label as a: (b): “Lunch”", "Nothing to do: it is already like this."),
        "Already so: Label as a: (b): “Lunch”. Nothing to do: it is already like this.",
        "Already so: Label as a (b): “Lunch”.",
    ),
    Said(
        *("control", "failed", "Move to Clients: “Offer”"),
        "The provider could not be reached; nothing was done.",
        "Not done: Move to Clients: “Offer”. The provider could not be reached; nothing was done.",
        "Not done: Move to Clients “Offer”. The provider could not be reached.",
    ),
    Said(
        *("control", "failed", "Comment on OPS-1: “Door”", "The provider refused this."),
        "Not done: Comment on OPS-1: “Door”. The provider refused this.",
        "Not done: Comment on OPS-1 “Door”. The provider refused this.",
    ),
    Said(
        *("blocked", "blocked", "Send to bob@rival.example: “Lunch”"),
        "No operator permits this action for this account.",
        "Refused: Send to bob@rival.example: “Lunch”. "
        "No operator permits this action for this account.",
        "Refused: Send to bob@rival.example “Lunch”. "
        "No operator permits this action for this account.",
    ),
    Said(
        *("blocked", "blocked", "Delete the draft: (no subject)"),
        "The guardrails could not decide, so nothing was done.",
        "Refused: Delete the draft: (no subject). "
        "The guardrails could not decide, so nothing was done.",
        "Refused: Delete the draft (no subject). The guardrails could not decide.",
    ),
    Said(
        *("control", "waiting", "Share with anna@client.example as reader: “Offer”"),
        "A person must confirm this first.",
        "Waiting: Share with anna@client.example as reader: “Offer”. "
        "A person must confirm this first.",
        "Waiting: Share with anna@client.example as reader “Offer”. "
        "A person must confirm this first.",
    ),
    Said(
        *("control", "waiting", "Send to anna@client.example: “Offer”", "It goes out at 12:00."),
        "Waiting: Send to anna@client.example: “Offer”. It goes out at 12:00.",
        "Waiting: Send to anna@client.example “Offer”. It goes out at 12:00.",
    ),
    Said(
        *("control", "denied", "Send to anna@client.example: “Offer”"),
        "It was recalled before it was carried out.",
        "Refused: Send to anna@client.example: “Offer”. It was recalled before it was carried out.",
        "Refused: Send to anna@client.example “Offer”. It was recalled before it was carried out.",
    ),
    Said(
        *("control", "recorded", "", "A person said yes."),
        "Noted: archive. A person said yes.",
        "Noted: archive. A person said yes.",
    ),
    Said(
        *("control", "recorded", "Archive: “Lunch”", "Done."),
        "Noted: Archive: “Lunch”. Done.",
        "Noted: Archive “Lunch”. Done.",
    ),
    Said(
        *("control", "unknown", "Archive: “Lunch”"),
        "Nobody could find out whether the provider did this: please check.",
        "Nobody can tell whether it was done: Archive: “Lunch”. "
        "Nobody could find out whether the provider did this: please check.",
        "Nobody can tell whether it was done: Archive “Lunch”. Please check.",
    ),
)
# Packed file by file, and the key that signed it.
FIRST = Path(__file__).with_name("words_1.zip")
KEY = (
    "remit.example/ledger/12e95d16-4b66-4e55-9354-2aa3ac669620"
    "+1a97a457+AUwUjLgQhn0zZ1Zu8X007S5qD3vNaA+zhEft/ND6rVmw"
)


def settle() -> UUID:
    tenant_id = uuid4()
    for row in ROWS:
        given = {"description": row.description, "sentence": row.why}
        payload = {name: text for name, text in given.items() if text}
        ledger.append(
            entry(tenant_id=tenant_id, phase=row.phase, status=row.status, payload=payload)
        )
    sealed.seal(tenant_id)
    return tenant_id


def make(tenant_id: UUID) -> bytes:
    chosen = Filters(tenant_id=tenant_id)
    return b"".join(
        Bundle(filters=chosen, actor_type="admin", actor_id="operator:olga", with_derived=True)
    )


def say_first(files: Files) -> None:
    """The manifest names the first words."""
    bundles.mend(files, words=verify.WORDS[0])


def say_second(files: Files) -> None:
    bundles.mend(files, words=verify.WORDS[1])


def say_none(files: Files) -> None:
    """The manifest is as before there were second ones."""
    manifest = json.loads(files["manifest.json"])
    manifest.pop("words", None)
    files["manifest.json"] = chain.canonical_bytes(manifest) + b"\n"


def say_unknown(files: Files) -> None:
    bundles.mend(files, words="remit-ledger-words/3")


def say_nothing(files: Files) -> None:
    bundles.mend(files, words=None)


def alter_a_word(files: Files) -> None:
    for name in (verify.TABLE, verify.REPORT):
        files[name] = files[name].replace(b"Noted: archive", b"Done: archive")
    bundles.mend(files)


NOT_THE_ROWS = f"{verify.TABLE} is not what the rows say, from the row of "
OF_ANOTHER_FORMAT = "The manifest is of another ledger or format."
# What is found of a bundle of the first words, and of one of today, after this.
FINDINGS: dict[Callable[[Files], None], tuple[str, str]] = {
    bundles.mend: ("", ""),
    say_first: ("", NOT_THE_ROWS),
    say_second: (NOT_THE_ROWS, ""),
    say_none: ("", NOT_THE_ROWS),
    say_unknown: (OF_ANOTHER_FORMAT, OF_ANOTHER_FORMAT),
    say_nothing: (OF_ANOTHER_FORMAT, OF_ANOTHER_FORMAT),
    alter_a_word: (NOT_THE_ROWS, NOT_THE_ROWS),
}
