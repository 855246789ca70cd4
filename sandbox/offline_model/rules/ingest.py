"""“You summarise an item and list its entities.”: its first sentences and the names in it."""

import json
import re
from collections import Counter
from itertools import pairwise, takewhile

from sandbox.offline_model.language import (
    ADDRESS,
    CLOSINGS,
    GREETINGS,
    STOP_WORDS,
    fresh_text,
    is_greeting,
    one_line,
    sentences,
    shortened,
    word_set,
    words,
)
from sandbox.offline_model.transcript import Json, Reply, Transcript

SUMMARY_LIMIT = 300
SUMMARY_SENTENCES = 3
MOST_ENTITIES = 12
MOST_TOPICS = 3
_SENDER = re.compile(r'From:\s*"?(?P<name>[^<>"\n]{0,200}?)"?\s*<(?P<address>[^<>\s]{1,320})>')
_NAMED_ADDRESS = re.compile(rf"(?P<name>[^<>\n,;:()]{{0,80}})<(?P<address>{ADDRESS.pattern})>")
_KEY = re.compile(r"\b([A-Z][A-Z0-9]{1,9})-\d{1,6}\b")
_LINK = re.compile(r"<?\b(?:https?://|www\.)\S+")
# Standards and code names that look like the key of an issue.
NOT_PROJECTS = word_set("UTF ISO SHA RFC MD COVID CVE PEP HTTP TLS AES GPT")
_NOT_NAMES = (
    STOP_WORDS
    | {word for phrase in (*GREETINGS, *CLOSINGS) for word in phrase.split()}
    | word_set(
        """monday tuesday wednesday thursday friday saturday sunday january february march
        april june july august september october november december subject title from date
        team new please"""
    )
)
_NAME = re.compile(r"[^\W\d_][^\W\d_'\u2019-]*(?:['\u2019-][^\W\d_]+)*")
_NOT_TOPICS = STOP_WORDS | {"title", "subject", "regards", "thanks", "please", "would", "there"}


def describe(transcript: Transcript) -> Reply:
    head, _, body = transcript.request.partition("\n\n")
    answer = {
        "summary": summary(title=_title(head), body=body),
        "entities": entities(head=head, body=body),
    }
    return Reply(text=json.dumps(answer, ensure_ascii=False))


def summary(*, title: str, body: str) -> str:
    """The first informative sentences of what was freshly written; else the title."""
    text = ""
    taken = 0
    for sentence in sentences(_LINK.sub("", fresh_text(body))):
        if is_greeting(sentence) or len(sentence.split()) < 4:
            continue
        if taken == SUMMARY_SENTENCES or (text and len(text) + len(sentence) >= SUMMARY_LIMIT):
            break
        text = f"{text} {sentence}".strip()
        taken += 1
    return shortened(text or one_line(title), limit=SUMMARY_LIMIT)


def entities(*, head: str, body: str) -> list[Json]:
    """The sender, people with addresses, projects by issue key, named people, topics."""
    found: dict[tuple[str, str], Json] = {}

    def add(kind: str, name: str, email: str | None = None) -> None:
        if len(found) == MOST_ENTITIES - MOST_TOPICS:
            return
        name = one_line(name).strip(" \"'*_-.")[:120]
        same_person = {str(e["name"]).casefold() for e in found.values() if e["type"] == "person"}
        if name and not (kind == "person" and email is None and name.casefold() in same_person):
            key = (kind, (email or name).casefold())
            found.setdefault(key, {"type": kind, "name": name, "email": email})

    text = f"{_title(head)}\n{body}"
    sender = _SENDER.search(head)
    if sender is not None:
        add("person", sender["name"] or _local_part(sender["address"]), sender["address"])
    for named in _NAMED_ADDRESS.finditer(body):
        add(
            "person",
            _last_name_in(named["name"]) or _local_part(named["address"]),
            named["address"],
        )
    for match in ADDRESS.finditer(body):
        add("person", _local_part(match[0]), match[0])
    for key in _KEY.findall(text):
        if key not in NOT_PROJECTS:
            add("project", key)
    for name in _names(text):
        add("person", name)
    named_already = word_set(" ".join(str(e["name"]) for e in found.values()).casefold())
    topics = _topics(text, without=named_already)
    return [*found.values(), *({"type": "topic", "name": t, "email": None} for t in topics)]


def _title(head: str) -> str:
    first = head.split("\n", 1)[0]
    return first.removeprefix("Title:").strip()


def _local_part(address: str) -> str:
    return address.partition("@")[0]


def _last_name_in(text: str) -> str:
    """The capitalised words at the end of what stands before an address."""
    name = list(takewhile(lambda word: word[:1].isupper(), reversed(text.split())))
    return " ".join(reversed(name[:4]))


def _names(text: str) -> list[str]:
    """Pairs of capitalised words side by side, such as “John Smith”."""
    names = []
    for line in text.splitlines():
        bare = _LINK.sub("", line)
        found = list(_NAME.finditer(bare))
        for first, last in pairwise(found):
            pair = (first[0], last[0])
            side_by_side = bare[first.end() : last.start()] == " "
            if side_by_side and all(_is_name(word) for word in pair):
                names.append(" ".join(pair))
    return names


def _is_name(word: str) -> bool:
    return word[0].isupper() and word[1:].islower() and word.casefold() not in _NOT_NAMES


def _topics(text: str, *, without: frozenset[str]) -> list[str]:
    """The longer words used most, at least twice."""
    counts = Counter(
        word
        for word in (word.casefold() for word in words(_LINK.sub("", text)))
        if len(word) >= 5 and word.isalpha() and word not in _NOT_TOPICS | without
    )
    most = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return [word for word, times in most[:MOST_TOPICS] if times > 1]
