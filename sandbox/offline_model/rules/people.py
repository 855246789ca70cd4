"""Who is meant by a name: the people who wrote mails that were found, and which of them."""

from dataclasses import dataclass

from sandbox.offline_model.language import counted, quoted, words
from sandbox.offline_model.transcript import Json, Result, as_objects, as_text, sender_of

MOST_PEOPLE = 6
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")


@dataclass(frozen=True, kw_only=True)
class Person:
    name: str
    address: str
    mails: int

    @property
    def option(self) -> str:
        return f"{self.name} ({self.address}) - {counted(self.mails, 'recent email')}"


def mails_in(found: Result) -> list[Json]:
    """The mails found, each once."""
    items = as_objects(found.data.get("items"))
    return list({as_text(i.get("id")): i for i in items if i.get("type") == "email"}.values())


def address_of(mail: Json) -> str:
    return as_text(sender_of(mail).get("address")).casefold()


def people_called(name: str, found: Result) -> tuple[Person, ...]:
    """People whose name has every word asked for and who wrote a mail that was found, most mails
    first."""
    wanted = {word.casefold() for word in words(name)}
    mails = mails_in(found)
    names = {address_of(mail): as_text(sender_of(mail).get("name")) for mail in reversed(mails)}
    people = [
        Person(
            name=quoted(named),
            address=quoted(address),
            mails=sum(address_of(mail) == address for mail in mails),
        )
        for address, named in names.items()
        if address and wanted and wanted <= {word.casefold() for word in words(named)}
    ]
    return tuple(sorted(people, key=lambda p: (-p.mails, p.name, p.address)))[:MOST_PEOPLE]


def chosen(answer: str, options: list[str]) -> str | None:
    """The option that an answer means: the option, its address, its name, its number, or
    words that only one of them has. None when it could be none or several."""
    plain = answer.strip().rstrip(".!").casefold()
    numbers = {str(n + 1): option for n, option in enumerate(options)}
    numbers |= dict(zip(_ORDINALS, options, strict=False))
    number = plain.removeprefix("the ").removesuffix(" one").strip("#() ")
    if number in numbers:
        return numbers[number]
    shared = [len({*words(plain)} & {*words(o.casefold().split(" - ")[0])}) for o in options]
    most = max(shared, default=0)
    for meant in (
        [o for o in options if o.casefold() == plain],
        [o for o in options if f"({plain})" in o.casefold() or f"{plain} (" in f"{o.casefold()}"],
        [o for o, count in zip(options, shared, strict=True) if count and count == most],
    ):
        if len(meant) == 1:
            return meant[0]
    return None


def person_of(option: str) -> Person:
    """The person of an option."""
    name, _, rest = option.partition(" (")
    return Person(name=name, address=rest.partition(")")[0], mails=0)
