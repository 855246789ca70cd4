"""“You summarise a document.”, “You summarise a mail thread.”, “You keep the summary of a
conversation.”: the sentences that say most, in their order."""

import re
from collections import Counter

from sandbox.offline_model.language import fresh_text, is_greeting, quoted, sentences, shortened
from sandbox.offline_model.rules.concepts import Text, concepts_of
from sandbox.offline_model.transcript import Reply, Transcript

MOST_SENTENCES = 6
LONGEST = 1200
_FOCUS = re.compile(r"^The reader wants to know: (?P<focus>.*)$", re.MULTILINE)
_HEAD = re.compile(r"^(?:From|To|Cc|Subject|Date): ?(?P<value>.*)$", re.MULTILINE)


def summarise(transcript: Transcript) -> Reply:
    """What the reader wants to know first, then what is said most of."""
    focus = _FOCUS.search(transcript.request.partition("<untrusted")[0])
    return Reply(text=summary(transcript.given, focus=focus["focus"] if focus else ""))


def summary(text: str, *, focus: str = "") -> str:
    said = [
        one
        for one in sentences(fresh_text(_HEAD.sub("", text)))
        if len(one.split()) >= 4 and not is_greeting(one)
    ]
    if not said:
        return shortened(quoted(text, limit=LONGEST), limit=LONGEST) or "It says nothing."
    counts = Counter(word for one in said for word in Text(one).stems)
    wanted = concepts_of(focus)

    def rated(place: int) -> float:
        one = Text(said[place])
        heard = sum(counts[concept] for concept in one.stems if counts[concept] > 1)
        asked = sum(concept.is_in(one) for concept in wanted)
        return 100.0 * asked + heard / (5 + len(one.stems)) + 1 / (1 + place)

    best = sorted(range(len(said)), key=rated, reverse=True)[:MOST_SENTENCES]
    return shortened(" ".join(quoted(said[n], limit=300) for n in sorted(best)), limit=LONGEST)
