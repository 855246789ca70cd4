"""What the document reader is asked about a document that arrived: into which listed folder it
belongs.

A document that lies in a listed folder was filed already, by a person or by an action of the
assistant's own, and starts no turn. So does one of an account whose policy lets nothing be done
about what arrives, and one that no listed folder could take: each of them would be refused.
"""

from agents.context import prompts
from agents.inbound.triage import Arrival, Brief
from agents.turns import roster
from guardrails.actions.files.move_document import MoveDocument
from guardrails.policies import simulation
from integrations.contracts import AccountRef, Document
from knowledge.search import retrieval

TEXT_LIMIT = 4000  # characters of the document
MOST_TRIED = 5  # folders: what is refused for all of these is refused for the document's own sake
# Refusals that another moment does not mend.
FINAL = frozenset(
    {
        *("not_from_mail", "harm_not_from_mail", "ask_not_from_mail", "not_own", "not_permitted"),
        *("audience_unknown", "target_not_listed", "condition_failed", "above_ceiling"),
        *("forbidden_by_ceiling", "receiver_novel", "receiver_stranger", "receiver_not_in_thread"),
    }
)


def brief(arrival: Arrival, document: Document) -> Brief | None:
    """None where nothing is to be asked."""
    agent = roster.DOCUMENT_READER
    permitted = [one for one in arrival.permitted if agent.can_use(one.action_type)]
    folders = {one.id for each in permitted for one in each.targets if one.kind == "folder"}
    if arrival.kind != "created" or not permitted:
        return None
    if document.trashed or document.folder_id in folders:
        return None
    if not any(_could_take(arrival.account, document, one) for one in sorted(folders)[:MOST_TRIED]):
        return None
    return Brief(
        agent=agent,
        item_id=document.id,
        request=prompts.render_arrival(
            {
                "document_id": document.id,
                "name": document.name,
                "folder": document.folder_path or None,
                "kind": document.mime_type or None,
                "text": _text(arrival.account, document)[:TEXT_LIMIT],
            }
        ),
        permitted=permitted,
    )


def _text(account: AccountRef, document: Document) -> str:
    """Its words; where its provider sends none along, those of its file as they were read in."""
    if document.content_text.strip():
        return document.content_text
    found = retrieval.find_items([document.id], account_ids=[account.id], chars=TEXT_LIMIT)
    return found[document.id].text if document.id in found else ""


def _could_take(account: AccountRef, document: Document, folder_id: str) -> bool:
    """Whether the policy lets the document be moved there, as far as anybody knows now."""
    wish = simulation.wish(
        account,
        action_type=MoveDocument.name,
        arguments={"document_id": document.id, "folder_id": folder_id},
        email_id=document.id,
    )
    decision = simulation.simulate(wish).decision
    return decision.verdict != "refuse" or decision.reason not in FINAL
