"""A label that a person took off is not put on the next like mail, whatever a model insists on."""

from typing import Any

import pytest
from django.urls import reverse

from agents.models import Turn
from agents.past import figures
from audit.models import ExecutedAgentAction
from guardrails.facts.reasons import SENTENCES
from guardrails.models import LabelCorrection
from knowledge.models import Item
from tests.clients import log_in_superuser, read_page
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import classify, scripted
from tests.stories.test_drafts import INGEST, READER, summary
from tests.stories.test_mailbox_traps import BOSS, LABEL, PASSED, put
from tests.stories.test_past_mail import start

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
SHOP = "orders@shop.example"
REFUSED = ("classify", "blocked", "blocked", "label_corrected")
DONE = [
    ("classify", "attempt", "pending", "allowed"),
    ("classify", "outcome", "succeeded", "performed"),
]


def insist(
    office: Office, id: str, *, sender: str = SHOP, **changes: Any
) -> tuple[list[tuple[str, str, str, str]], str]:
    """A mail arrives, and the model labels it. The ledger's rows of it, and what the model heard
    of it."""
    params = {"email_id": id, "label_id": LABEL}
    wish = calls(("classify", params))
    with scripted({INGEST: summary, READER: [wish, "Done."]}) as model:
        put(office, id, **{"from": sender, **changes})
    [_, after] = model.chats(READER)
    return rows_of(id), str(after["messages"][-1]["content"])


def rows_of(id: str) -> list[tuple[str, str, str, str]]:
    turn = Turn.objects.get(item_source_id=id, kind="inbound")
    rows = ExecutedAgentAction.objects.filter(run_id=str(turn.id)).order_by("id")
    return [(one.action_type, one.phase, one.status, one.decision_reason) for one in rows]


def change(office: Office, id: str, *, add: str = "", remove: str = "") -> None:
    """Maya changes a mail's labels in a client of her own."""
    labels = [one for one in office.mail(id)["labels"] if one != remove]
    labels += [add] if add else []
    office.control("PATCH", f"/users/maya/emails/{id}", json={"labels": labels})
    office.settle_webhooks()
    office.drain()


def test_what_a_person_took_off_stays_off_until_they_put_it_on_themselves(office: Office) -> None:
    assert insist(office, "first")[0] == DONE
    change(office, "first", remove="INBOX")
    change(office, "first", remove="UNREAD")
    assert not LabelCorrection.objects.exists()  # put away and read is not put right
    assert insist(office, "second")[0] == DONE

    change(office, "second", remove=LABEL)
    today = LabelCorrection.objects.get().at
    written = len(office.calls())
    refused, heard = insist(office, "third")

    assert refused == [REFUSED]
    sentence = (
        "A person took this label off mail of this sender. "
        f"It was “Invoices”, on {today:%Y-%m-%d}. "
        "Label it so yourself again, and it counts as before."
    )
    assert sentence in heard
    assert Turn.objects.get(item_source_id="third").actions[0]["sentence"] == sentence
    assert len(office.calls()) == written
    assert office.mail("third")["labels"] == ["INBOX", "UNREAD"]
    turn = Turn.objects.get(item_source_id="third")
    row = ExecutedAgentAction.objects.get(run_id=str(turn.id))
    why = read_page(
        log_in_superuser("ines"), reverse("admin:guardrails_policy_why", args=[row.action_id])
    )
    assert "No person took it off mail of this sender: label id" in why
    assert "A person would have to label such mail so by hand, or in a chat." in why
    # Who only bears the name, writes otherwise or through a list is not like it.
    forged: dict[str, Any] = {"authentication": PASSED | {"dmarc": "fail"}}
    assert insist(office, "forged", **forged)[0] == DONE
    assert insist(office, "boss", sender=BOSS)[0] == DONE
    assert insist(office, "list", list_id="<news.shop.example>")[0] == DONE

    change(office, "third", add=LABEL)
    assert insist(office, "fourth")[0] == DONE
    change(office, "third", remove=LABEL)
    assert insist(office, "fifth")[0] == [REFUSED]


def test_what_the_user_asks_for_in_a_chat_is_their_newest_word(office: Office) -> None:
    insist(office, "first")
    change(office, "first", remove=LABEL)
    assert insist(office, "second")[0] == [REFUSED]

    assert classify(office, "second", LABEL).status == "succeeded"
    office.settle_webhooks()
    office.drain()

    assert insist(office, "third")[0] == DONE


def test_a_run_over_past_mail_and_a_trial_of_one_respect_it(office: Office) -> None:
    insist(office, "first")
    change(office, "first", remove=LABEL)
    insist(office, "second")
    Turn.objects.filter(item_source_id="second").delete()
    written = len(office.calls())
    params = {"email_id": "second", "label_id": LABEL}
    wish = calls(("classify", params))
    client, found = log_in_superuser("ines"), []
    for is_trial in (True, False):
        with scripted({READER: [wish, "Done."]}):
            run = start(office, last=1, is_trial=is_trial)
            office.drain()
        [line] = figures.count(run).lines
        found.append((dict(line.counts), line.why))
        page = read_page(client, reverse("admin:agents_pastrun_change", args=[run.id]))
        assert page.count("Label a mail: Invoices (refused)") == 1  # the log
        sent = Item.objects.get(source_id="second").occurred_at
        assert f"{sent:%Y-%m-%d} (refused)</li>" in page  # the example

    sentence = SENTENCES["label_corrected"]
    for counts, [(why, number)] in found:
        assert (counts, number, why.startswith(sentence)) == ({"refused": 1}, 1, True)
    assert len(office.calls()) == written
