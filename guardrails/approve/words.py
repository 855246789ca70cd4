"""What a person says yes to in words: a short confirmation by a strict grammar, or nothing. Pure.

Only what is all of the message and can mean nothing else is understood. “Ok” and “sure” are no
confirmation, nor is anything with a question, a quotation, a condition or a further wish.
"""

import re
from dataclasses import dataclass, field, replace

LONGEST = 60  # characters
VERBS = ("create", "send")  # the first words of names of actions
_PLAIN = re.compile(r"[\w\s,.!'\u2019-]+")
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True, kw_only=True)
class Meant:
    """Which of the listed actions a confirmation is about: those of `numbers` (from 1), or all of
    them, of which there are then `count` (None: any number), or the only one where it says
    neither. `explicit` says that it speaks of confirming: all else could answer any question.
    `verb` is what it says to do where it names it: it is about nothing but actions of that name."""

    numbers: tuple[int, ...] = ()
    every: bool = False
    count: int | None = None
    explicit: bool = False
    verb: str = ""  # create, send
    languages: tuple[str, ...] = field(default=(), compare=False)  # it is said so in these


@dataclass(frozen=True)
class _Language:
    tag: str
    yes: str
    do: str
    confirm: str
    create: str
    send: str
    every: str
    both: str
    please: str
    number: str
    together: str  # between two numbers
    counts: str  # two to ten


_LANGUAGES = (
    _Language(
        tag="en",
        yes="yes|yep|yeah",
        do="do(?: it| that| them)?|go ahead(?: with(?= ))?",
        confirm="(?:i )?(?:confirm|approve)(?: it| that| them)?|confirmed|approved",
        create="create(?: it| them)?",
        send="send(?: it| them)?",
        every="(?:all|everything)(?: of them)?",
        both="both(?: of them)?",
        please="please",
        number="number",
        together="and",
        counts="two three four five six seven eight nine ten",
    ),
    _Language(
        tag="de",
        yes="ja|jawohl",
        do="mache?(?: es| das| sie)?|tu(?: es| das)",
        confirm="(?:ich )?(?:bestätige|genehmige)(?: es| das| sie)?|bestätigt|genehmigt",
        create="erstelle?(?: es| sie)?",
        send="(?:sende?|schicke?)(?: es| sie)?",
        every="alles?",
        both="(?:alle )?beides?",
        please="bitte",
        number="nummer|nr",
        together="und",
        counts="zwei drei vier fünf sechs sieben acht neun zehn",
    ),
    _Language(
        tag="fr",
        yes="oui",
        do="fais(?: le| les)?|faites(?: le| les)?|vas y|allez y",
        confirm="(?:je )?(?:confirme|valide)|confirmé|validé",
        create="crée(?: le| les)?|créez(?: le| les)?",
        send="envoie(?: le| les)?|envoyez(?: le| les)?",
        every="tout|tous(?: les)?|toutes(?: les)?|les(?= (?:deux|trois|quatre|cinq|six|sept|huit))",
        both="(?:tous |toutes )?les deux",
        please="s il (?:te|vous) plaît",
        number="numéro|n",
        together="et",
        counts="deux trois quatre cinq six sept huit neuf dix",
    ),
    _Language(
        tag="es",
        yes="sí|si",
        do="hazl[oa]s?|haz(?= )|hágal[oa]s?|adelante",
        confirm="(?:lo |los |las )?(?:confirmo|apruebo)|confirmado|aprobado",
        create="créal[oa]s?|crea(?= )",
        send="envíal[oa]s?|envía(?= )",
        every="todo|tod[oa]s(?: l[oa]s)?|l[oa]s(?= (?:dos|tres|cuatro|cinco|seis|siete|ocho))",
        both="amb[oa]s|l[oa]s dos",
        please="por favor",
        number="número|n",
        together="y",
        counts="dos tres cuatro cinco seis siete ocho nueve diez",
    ),
    _Language(
        tag="it",
        yes="sì|si",
        do="fall[oaie]|procedi",
        confirm="(?:lo |li |le )?(?:confermo|approvo)|confermato|approvato",
        create="creal[oaie]|crea(?= )",
        send="mandal[oaie]|invial[oaie]|invia(?= )",
        every="tutto|tutt[ie](?: e)?",
        both="entramb[ie]|tutt[ie] e due",
        please="per favore|prego",
        number="numero|n",
        together="e",
        counts="due tre quattro cinque sei sette otto nove dieci",
    ),
)


def _compile(one: _Language) -> re.Pattern[str]:
    many = one.counts.replace(" ", "|")
    numbers = rf"(?:(?:{one.number}) )?\d{{1,2}}(?: (?:(?:{one.together}) )?\d{{1,2}})*"
    scope = (
        rf"(?P<both>{one.both})|(?P<every>{one.every})(?: (?P<count>\d{{1,2}}|{many}))?"
        rf"|(?P<numbers>{numbers})"
    )
    please = rf"(?: (?:{one.please}))?"
    act = (
        rf"(?P<do>{one.do})|(?P<confirm>{one.confirm})"
        rf"|(?P<create>{one.create})|(?P<send>{one.send})"
    )
    return re.compile(rf"(?: (?P<yes>{one.yes}))?{please}(?: (?:{act}))?(?: (?:{scope}))?{please}")


_GRAMMARS = tuple((one.tag, _compile(one), one.counts.split()) for one in _LANGUAGES)


def read(text: str) -> Meant | None:
    """What the text confirms; None where it is anything but one short confirmation."""
    if len(text) > LONGEST or not _PLAIN.fullmatch(text) or "\n" in text.strip():
        return None
    plain = " " + " ".join(re.sub(r"[,.!'\u2019-]", " ", text.casefold()).split())
    by_language = {
        tag: meant
        for tag, grammar, counts in _GRAMMARS
        if (found := grammar.fullmatch(plain)) and (meant := _meant(found, counts))
    }
    if not by_language:
        return None
    return replace(next(iter(by_language.values())), languages=tuple(by_language))


def _meant(found: re.Match[str], counts: list[str]) -> Meant | None:
    explicit = found["confirm"] is not None
    verb = next((name for name in VERBS if found[name]), "")
    if verb and not found["yes"]:
        return None  # “send both” may be a wish of its own
    said = Meant(explicit=explicit, verb=verb)
    if found["numbers"]:
        numbers = tuple(int(one) for one in _NUMBERS.findall(found["numbers"]))
        return replace(said, numbers=numbers) if 0 not in numbers else None
    if not (found["yes"] or found["do"] or explicit):
        return None  # “all three” alone says nothing of yes or no
    if found["both"]:
        return replace(said, every=True, count=2)
    if found["every"]:
        many = found["count"]
        count = int(many) if many and many.isdigit() else None
        if many and count is None:
            count = counts.index(many) + 2
        return replace(said, every=True, count=count)
    return said
