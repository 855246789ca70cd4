"""Which issues the user's words sort out: “all of Ines's overdue tasks”, “my open bugs”. Pure.

Looked at are structured fields alone: who works on it, status, type, due day, label and priority.
A phrase counts only where each of its words is understood, from the word that begins it (“all”,
“my”, “Tom's”) to its end, and where nothing around it takes some of them out again. In doubt no
issue is meant.
"""

import re
from collections.abc import Iterable
from datetime import date

from guardrails.facts import targets
from guardrails.facts.people import Person
from guardrails.words import issue_words as known
from guardrails.words.issue_phrases import IssueQuery, Phrase, Unclear, tokens_of
from guardrails.words.names import APOSTROPHES, mentions
from guardrails.words.own import HOLE
from integrations.contracts import Issue

KEY = re.compile(r"\b[A-Z][A-Z0-9]{1,20}-\d{1,9}\b")
# “Lenas offene Aufgaben”: German says whose something is without an apostrophe.
GENITIVE = re.compile(
    r"\b(?P<name>[^\W\d_]{2,40})s(?=\s(?:(?:über|offen|erledigt|fertig)\w{0,9}\s)?"
    r"(?:aufgaben?|bugs?|tickets?|fehler|storys?|vorgänge?)(?!\w))",
    re.IGNORECASE,
)
ELIDED = re.compile(r"(?i)\b([dl])'(?=[^\W\d_])")  # “d'Ines”


def spoken_of(words: str) -> str:
    """The words in all the ways in which they are read: to look people up by."""
    return "\n".join((words, _spelled_out(words)))


def issue_query(
    words: str, *, said_at: str, zone: str, people: Iterable[Person], own: str
) -> IssueQuery | None:
    """The issues that the words ask for; `own` is the user's address. None where they ask for
    none, or where that is not clear."""
    if HOLE in words or KEY.search(words):
        return None
    everybody = tuple(people)
    for text in dict.fromkeys((words.translate(APOSTROPHES), _spelled_out(words))):
        tokens = list(tokens_of(text, mentions(text, everybody)))
        try:
            found = Phrase(tokens, text, said_at=said_at, zone=zone, own=own).read()
        except Unclear:
            continue
        if found is not None:
            return found
    return None


def select_issues(query: IssueQuery, issues: Iterable[Issue], *, today: date) -> tuple[str, ...]:
    """The keys of what the query means, out of all issues."""
    found = tuple(one.key for one in issues if _fits(query, one, today))
    return found if query.several or len(found) == 1 else ()


def _fits(query: IssueQuery, issue: Issue, today: date) -> bool:
    assignee = targets.address_or_none(issue.assignee or "")
    is_late = issue.status in known.OPEN and issue.due_date is not None and issue.due_date < today
    return (
        (not query.assignee or assignee in query.assignee)
        and (not query.statuses or issue.status in query.statuses)
        and query.type in ("", issue.type)
        and query.priority in ("", issue.priority)
        and (not query.label or query.label in {one.casefold() for one in issue.labels})
        and (not query.due or issue.due_date in query.due)
        and (not query.overdue or is_late)
    )


def _spelled_out(words: str) -> str:
    """The words with the apostrophes that German leaves away, and the blanks that French does."""
    return ELIDED.sub(r"\1' ", GENITIVE.sub(r"\g<name>'s", words.translate(APOSTROPHES)))
