"""“Create Jira tasks from John's proposal email”: find the mail, ask which John, create."""

import re
from dataclasses import dataclass

from sandbox.offline_model.language import content_words, counted, quoted, words
from sandbox.offline_model.rules import questions
from sandbox.offline_model.rules.acting import act
from sandbox.offline_model.rules.extractor import tasks_in
from sandbox.offline_model.rules.issues import first_project
from sandbox.offline_model.rules.people import (
    Person,
    address_of,
    chosen,
    mails_in,
    people_called,
    person_of,
)
from sandbox.offline_model.transcript import (
    Call,
    Json,
    Reply,
    Result,
    Transcript,
    as_text,
    said_in,
)

LIMIT = 12
_ASKED = re.compile(
    r"(?:create|make|add|open|file|extract|prepare)\b.{0,40}?\b(?:tasks?|issues?|tickets?)\b"
    r".{0,60}?\bfrom\s+(?P<whence>.+)",
    re.IGNORECASE | re.DOTALL,
)
_POSSESSIVE = re.compile(r"(?P<person>[^'\u2019]{1,80})['\u2019](?:s\b)?\s*(?P<what>.*)", re.DOTALL)
_SENT_BY = re.compile(
    r"(?:the\s+|an?\s+)?(?P<what>.{1,80}?)\s+(?:sent\s+)?(?:from|by|of)\s+(?P<person>.{1,80})",
    re.DOTALL,
)
_PROJECT = re.compile(r"\bin\s+(?:project\s+)?(?P<key>[A-Z][A-Z0-9]{1,9})\b")
_MAIL_WORDS = questions.SOURCE_WORDS["gmail"] | {"latest", "last", "newest", "recent"}


@dataclass(frozen=True, kw_only=True)
class Wish:
    person: str
    topic: str
    project: str | None

    def mail_of(self, name: str) -> str:
        return f"{name}'s {self.topic} email" if self.topic else f"{name}'s email"


def wish_in(request: str) -> Wish | None:
    """What is asked for; None when the request is not for tasks from a person's mail."""
    asked = _ASKED.match(request)
    if asked is None:
        return None
    whence = asked["whence"].strip().rstrip(".!?")
    parts = _POSSESSIVE.fullmatch(whence) or _SENT_BY.fullmatch(whence)
    if parts is None:
        return None
    project = _PROJECT.search(request)
    what = _PROJECT.sub("", parts["what"])
    person = _PROJECT.sub("", parts["person"]).strip()
    return Wish(
        person=person.removeprefix("the ").strip(),
        topic=" ".join(content_words(what, without=_MAIL_WORDS)),
        project=project["key"] if project else None,
    )


def next_reply(transcript: Transcript, wish: Wish) -> Reply:
    created = transcript.results_of("create_jira_task")
    if created:
        return _finished(transcript, wish, created)
    found = transcript.results_of("retrieve_context")
    if not found:
        return _retrieve(wish, wish.person)
    if not found[-1].success:
        return Reply(text=f"I could not search your mail. {quoted(found[-1].refusal, limit=400)}")
    asked = transcript.results_of("ask_user")
    if asked:
        return _after_answer(transcript, wish, asked[-1])
    people = people_called(wish.person, found[-1])
    if not people:
        return _nothing_from(wish, wish.person)
    if len(people) > 1:
        return _ask_which(wish, people)
    return _create(transcript, wish, people[0])


def _retrieve(wish: Wish, person: str) -> Reply:
    arguments: Json = {
        "query": wish.topic or "email",
        "entity_filter": person,
        "sources": ["gmail"],
        "limit": LIMIT,
    }
    return Reply(calls=(Call(name="retrieve_context", arguments=arguments),))


def _ask_which(wish: Wish, people: tuple[Person, ...]) -> Reply:
    name = wish.person
    several = f"multiple {name}s" if name[-1:] not in "sxz" else f"several people called {name}"
    arguments: Json = {
        "question": f"Which {name} did you mean?",
        "options": [person.option for person in people],
        "required_for": "identify correct email thread",
    }
    return Reply(
        text=f"I found emails from {several}. Which one did you mean?",
        calls=(Call(name="ask_user", arguments=arguments),),
    )


def _after_answer(transcript: Transcript, wish: Wish, asked: Result) -> Reply:
    answer = as_text(asked.data.get("answer"))
    options = asked.call.arguments.get("options")
    options = [as_text(o) for o in options] if isinstance(options, list) else []
    option = chosen(answer, options)
    if option is None:
        return Reply(
            text=f"I could not tell which {wish.person} you mean. "
            "Please ask again with the full name or the address."
        )
    return _create(transcript, wish, person_of(option))


def _create(transcript: Transcript, wish: Wish, person: Person) -> Reply:
    """One call for each task in the person's mail, which is opened first where its text was not
    found with it."""
    mail = _best_mail(wish, person, transcript.results_of("retrieve_context")[-1])
    if mail is None:
        return _nothing_from(wish, person.name)
    text = _text(transcript, mail)
    if text is None:
        return Reply(
            calls=(Call(name="open_item", arguments={"item_id": as_text(mail.get("id"))}),)
        )
    tasks = tasks_in(text)
    if not tasks:
        return Reply(text=f"I found {wish.mail_of(person.name)}, but no tasks in it.")
    project = wish.project or first_project(transcript)
    calls = (act("create_jira_task", {"project_key": project, **task}) for task in tasks)
    return Reply(calls=tuple(calls))


def _text(transcript: Transcript, mail: Json) -> str | None:
    """What a mail says: as it was opened, else as it was found; None where neither tells."""
    for opened in transcript.results_of("open_item"):
        if opened.call.arguments.get("item_id") == mail.get("id"):
            return as_text(opened.data.get("text"))
    return as_text(mail.get("text")) or None


def _finished(transcript: Transcript, wish: Wish, created: tuple[Result, ...]) -> Reply:
    asked = transcript.results_of("ask_user")
    options = asked[-1].call.arguments.get("options") if asked else None
    names = [as_text(one) for one in options] if isinstance(options, list) else []
    option = chosen(as_text(asked[-1].data.get("answer")), names) if asked else None
    people = people_called(wish.person, transcript.results_of("retrieve_context")[-1])
    name = person_of(option).name if option else people[0].name if people else wish.person
    about = wish.mail_of(name)
    good = [result for result in created if result.success]
    refusals = sorted({quoted(one.refusal, limit=400) for one in created if not one.success})
    if not good:
        return Reply(text=f"I found {about}, but could not create tasks from it. {refusals[0]}")
    said = f"I found {about}. I've extracted {counted(len(good), 'task')}:"
    refused = f"{counted(len(created) - len(good), 'task')} refused: {' '.join(refusals)}"
    return Reply(text=f"{said}\n{refused}" if refusals else said)


def _nothing_from(wish: Wish, name: str) -> Reply:
    topic = f"{wish.topic} " if wish.topic else ""
    return Reply(text=f"I found no {topic}email from {name}.")


def _best_mail(wish: Wish, person: Person, found: Result) -> Json | None:
    """Of the person's mails the one with most topic words in title, then text; the first
    of equals, since results come in order of relevance."""
    mine = [mail for mail in mails_in(found) if address_of(mail) == person.address.casefold()]
    wanted = {word.casefold() for word in words(wish.topic)}

    def hits(text: str) -> int:
        return len(wanted & {word.casefold() for word in words(text)})

    return max(
        mine, key=lambda one: (hits(as_text(one.get("title"))), hits(said_in(one))), default=None
    )
