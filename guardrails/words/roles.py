"""Whether the user's words say that somebody may change or comment on what they get to see.

What nobody said is reading. A word that is negated says nothing (“but not edit it”), and neither
does any other: who is in doubt says it in so many words. English, German, French, Spanish, Italian,
Portuguese, Dutch, Swedish, Danish, Norwegian, Polish and Finnish. Pure.
"""

import re

# Beginnings of words, so that endings make no difference.
WRITING = (
    r"edit|co-?edit|redact|writer|write access|writing access|can write|may write|"
    r"let \w+ write|bearbeit|schreib(?:zugriff|recht)|mitschreib|modifi|édit|écriture|"
    r"edici[oó]n|escritura|scrittura|edição|escrita|bewerk|schrijf(?:recht|toegang)|"
    r"redig|redaktør|skrivbehörighet|skriv(?:e|ning)sadgang|skrivetilgang|edytow|edycj|"
    r"muoka|kirjoitusoikeu"
)
COMMENTING = (
    r"comment|kommenti|kommentar|kommenter|annot|coment|commenta|opmerking|reager|komentow|komentarz|"
    r"kommentoi"
)
NOT = (
    r"not|\w*n['\u2019]t|no|never|without|cannot|nicht|kein\w*|ohne|pas|sans|non|senza|sin|não|sem|niet|"
    r"geen|zonder|inte|utan|ikke|uden|uten|nie|bez|ei|ilman"
)
GAP = 3  # words between a negation and what it is about
SAID = {
    "writer": re.compile(rf"\b(?:{WRITING})", re.IGNORECASE),
    "commenter": re.compile(rf"\b(?:{COMMENTING}|{WRITING})", re.IGNORECASE),
}
NEGATED = re.compile(rf"\b(?:{NOT})(?:\W+\w+){{0,{GAP}}}\W+$", re.IGNORECASE)
LOOKED_AT = 80  # characters before a word in which a negation is looked for


def says_role(role: str, words: str) -> bool:
    """Whether the words give this role (commenter, writer) to anybody. Reading goes without
    saying, and any other role is said by nothing."""
    if role == "reader":
        return True
    pattern = SAID.get(role)
    return pattern is not None and any(
        not NEGATED.search(words[max(0, found.start() - LOOKED_AT) : found.start()])
        for found in pattern.finditer(words)
    )
