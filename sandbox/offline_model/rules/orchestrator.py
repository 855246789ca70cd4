"""“You are Remit's orchestrator.”: which rule a request belongs to, first match first."""

import re

from sandbox.offline_model.languages import language_of
from sandbox.offline_model.rules import (
    commands,
    custom_agents,
    decisions,
    handing_over,
    patterns,
    plans,
    questions,
    skills,
    tasks_from_mail,
)
from sandbox.offline_model.script import Script, follow, play
from sandbox.offline_model.transcript import Reply, Transcript

LONGEST_REQUEST = 4000
HELP = (
    "I am the offline stand-in: I follow fixed rules and am not a language model. "
    "I can answer questions about your mail, documents, calendar and issues, create tasks "
    "from a mail, create or change an issue, enter, move or cancel an event, make or share a "
    "document, archive, label, file or forward a mail, draft a reply and send a mail. "
    "I plan requests of several steps, follow skills and ask custom agents. "
    "Try: “Create Jira tasks from John's proposal email”, “Which mails mention the invoice?” "
    "or “Draft a reply to Anna's mail about the budget”."
)
# What the rules do not read in a language is said in it.
HELP_ELSEWHERE = {
    "de": "Ich bin der Offline-Ersatz: Ich folge festen Regeln und bin kein Sprachmodell. Fragen "
    "und Befehle verstehe ich auch auf Deutsch, diese Bitte aber nicht. Zum Beispiel: "
    "„Archiviere die Mail von Katrin“ oder „Wann ist die Besprechung mit dem Vorstand?“",
    "fr": "Je suis le remplaçant hors ligne : je suis des règles fixes et je ne suis pas un modèle "
    "de langage. Je comprends des ordres en français, mais pas cette demande, et des questions "
    "seulement en anglais ou en allemand. Par exemple : « Archive le courriel de Katrin ».",
    "es": "Soy el sustituto sin conexión: sigo reglas fijas y no soy un modelo de lenguaje. "
    "Entiendo órdenes en español, pero no esta petición, y preguntas solo en inglés o alemán. "
    "Por ejemplo: «Archiva el correo de Katrin».",
}
_POLITE = re.compile(
    r"\A(?:(?:hi|hello|hey|hallo|please|bitte|can you|could you|would you|kannst du|können sie|"
    r"tell me|sag mir|i want you to|now)\b[\s,!]*)+",
    re.IGNORECASE,
)
_ABOUT_ITSELF = re.compile(
    r"(?:what can you do|who are you|what are you|help(?: me)?|are you .{0,60})[\s?.!]*",
    re.IGNORECASE,
)


def next_reply(transcript: Transcript) -> Reply:
    if transcript.decisions:
        return Reply(text=decisions.describe_decisions(transcript))
    request = _POLITE.sub("", transcript.request[:LONGEST_REQUEST].strip(), count=1)
    if handing_over.is_wish(request):
        return handing_over.next_reply(transcript)
    if steps := plans.steps_in(request):
        return play(plans.script(transcript, steps, _one_step), transcript)
    return play(_one_step(transcript, request), transcript)


def _one_step(transcript: Transcript, step: str) -> Script:
    """One request, by the first rule that it belongs to."""
    request = _POLITE.sub("", step, count=1)
    if _ABOUT_ITSELF.fullmatch(request):
        return HELP
    if wish := tasks_from_mail.wish_in(request):
        return (yield from follow(lambda t: tasks_from_mail.next_reply(t, wish), transcript))
    if asked := custom_agents.wish_in(request):
        return (yield from custom_agents.script(transcript, *asked))
    if which := patterns.wish_in(request):
        return (yield from patterns.script(transcript, which))
    if found := skills.WISH.fullmatch(request.rstrip(".! ")):
        return (yield from skills.script(transcript, found["which"]))
    if command := commands.script(transcript, request):
        return (yield from command)
    if questions.is_question(request):
        return (yield from questions.script(transcript, request))
    return HELP_ELSEWHERE.get(language_of(step), HELP)
