"""What can be done at a mailbox, how surely Remit can prove it, and why, in words. Pure."""

from collections.abc import Collection, Iterator

from integrations.ports.evidence import Ability

HIDDEN = (
    "Gmail hides its folder of all mail here. Switch it on in its settings: Labels, All Mail, Show "
    "in IMAP."
)


def list_abilities(
    can: Collection[str], roles: Collection[str], checks_as: str, no_sending: str
) -> Iterator[Ability]:
    """`can`: “moves”, “deletes”, “keywords”, “labels”, “hides” (Gmail that shows no folder of all
    mail). `no_sending`: why mail cannot be sent, if so."""
    again = "It is looked at again afterwards; doing it twice changes nothing."
    no_moves = "" if "moves" in can else "The server cannot move one mail and leave others alone."
    no_deletes = "" if "deletes" in can else "The server cannot delete one mail and leave others."
    if "labels" in can:  # what has left the inbox is in the folder of all mail
        roles = {*roles, "archive"}
    missing = {
        role: "" if role in roles else f"The mailbox has no folder for {words}."
        for role, words in (
            ("archive", "archived mail"),
            ("trash", "what is thrown away"),
            ("drafts", "drafts"),
        )
    }
    if "hides" in can and missing["archive"]:
        missing["archive"] = HIDDEN
    rows = (
        ("Read and search", "A", "", "Reading changes nothing there."),
        ("Mark as read", "B", "", again),
        (
            "Label",
            "B",
            "" if {"keywords", "labels"} & {*can} else "The server keeps no words with a mail.",
            again,
        ),
        ("Archive and move", "B", no_moves or missing["archive"], again),
        ("Put into the trash", "B", no_moves or missing["trash"], again),
        (
            *("Write drafts and take them back", "B", no_deletes or missing["drafts"]),
            "A draft is found again by its Message-ID.",
        ),
        (
            *("Send, answer and forward", "C", no_sending),
            "Up to the word that ends the mail it is proved that nothing was sent. If the answer "
            "to it is lost, and the mail does not show in the mailbox within a day, a person is "
            "asked; nothing is ever sent twice.",
        ),
        (
            "Know who really sent a mail",
            "B",
            "" if checks_as else "The server writes down nothing about senders.",
            f"{checks_as} writes down what it found out.",
        ),
    )
    for what, grade, missed, why in rows:
        yield Ability(what=what, grade="" if missed else grade, why=missed or why)
