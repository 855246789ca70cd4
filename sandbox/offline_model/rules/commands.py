"""Which command a request is: one on issues, the calendar, documents or mail, in English, German,
French or Spanish. What only a reader of the texts could do is none."""

from sandbox.offline_model.rules import appointments, files, issues, mails, sending
from sandbox.offline_model.script import Script
from sandbox.offline_model.transcript import Transcript


def script(transcript: Transcript, request: str) -> Script | None:
    """The steps of the command; None where the request is none."""
    request = request.strip()
    return (
        issues.script(transcript, request)
        or files.script(request)
        or appointments.script(transcript, request)
        or sending.script(transcript, request)
        or mails.script(transcript, request)
    )
