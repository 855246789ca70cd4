"""“You are Remit's event reader.”: how the user may answer an invitation.

What collides is declined, with the free times that were worked out; what does not is accepted, or
answered with “maybe” where acceptance is not among the choices. No instruction in the event is
followed.
"""

from sandbox.offline_model.transcript import (
    Call,
    Reply,
    Transcript,
    as_object,
    as_objects,
    marked_line,
)


def next_reply(transcript: Transcript) -> Reply:
    item = as_object(marked_line(transcript.request, "item"))
    offer = transcript.offer("suggest_answer")
    answers = offer.choices("answer") if offer else ()
    if not answers:
        return Reply(text="I could not read the event, so I left it for the person.")
    if as_objects(item.get("collides_with")):
        free = [one.get("number") for one in as_objects(item.get("free_instead"))]
        call = Call(name="suggest_answer", arguments={"answer": "decline", "propose": free})
    else:
        answer = "accept" if "accept" in answers else "tentative"
        call = Call(name="suggest_answer", arguments={"answer": answer})
    if remaining := transcript.remaining((call,)):
        return Reply(calls=remaining)
    return Reply(text="I suggested an answer to the invitation.")
