"""What the document reader is asked about a document that arrived: into which listed folder it
belongs.

A document that lies in a listed folder was filed already, by a person or by an action of the
assistant's own, and starts no turn. So does one of an account whose policy lets nothing be done
about what arrives, and one that somebody else owns: no policy lets what arrived bring another's
document to others.
"""

from agents.context import prompts
from agents.inbound.triage import Arrival, Brief
from agents.turns import roster
from integrations.contracts import Document

TEXT_LIMIT = 4000  # characters of the document


def brief(arrival: Arrival, document: Document) -> Brief | None:
    """None where nothing is to be asked."""
    agent = roster.DOCUMENT_READER
    permitted = [one for one in arrival.permitted if agent.can_use(one.action_type)]
    folders = {one.id for each in permitted for one in each.targets if one.kind == "folder"}
    if arrival.kind != "created" or not permitted:
        return None
    if document.trashed or document.folder_id in folders:
        return None
    return Brief(
        agent=agent,
        item_id=document.id,
        request=prompts.render_document(document, limit=TEXT_LIMIT),
        permitted=permitted,
    )
