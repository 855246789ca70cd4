"""A person changes a mail's labels, and only a sync learns of it: it teaches what the webhook would
have taught, once."""

from typing import Any

import pytest
from django_q.models import OrmQ

from agents import tasks
from agents.inbound import intake
from agents.models import Turn
from guardrails.models import AllowedActionOption, LabelCorrection, TargetGroup
from integrations.contracts.events import ItemEvent
from integrations.models import Account, Delivery
from knowledge.models import Item
from tests.agents.inbound.test_missed import sync
from tests.model_server import calls
from tests.office import Office
from tests.stories.steps import scripted
from tests.stories.test_corrections import DONE, REFUSED, SHOP, insist
from tests.stories.test_drafts import INGEST, READER, summary
from tests.stories.test_mailbox_traps import LABEL, put
from tests.stories.test_thread_status import statuses, write

pytestmark = pytest.mark.django_db(databases=["default", "ledger"], transaction=True)
OTHER = "label_newsletter"


def lose_webhooks(office: Office) -> list[dict[str, Any]]:
    """Forget what came just now, as if it had not; what it was."""
    office.settle_webhooks()
    lost = Delivery.objects.filter(state="queued")
    bodies = [one.body for one in lost.order_by("received_at")]
    lost.delete()
    OrmQ.objects.all().delete()
    return bodies


def change(office: Office, id: str, *, add: str = "", remove: str = "") -> list[dict[str, Any]]:
    """Maya changes a mail in a client of her own, and its webhook is lost."""
    labels = [one for one in office.mail(id)["labels"] if one != remove]
    labels += [add] if add else []
    office.control("PATCH", f"/users/maya/emails/{id}", json={"labels": labels})
    return lose_webhooks(office)


def look(office: Office) -> int:
    """What a sweep does; of how many accounts it looked at labels."""
    number = tasks.queue_label_changes()
    office.drain()
    return number


def test_a_correction_that_only_a_sync_learned_of_is_one(office: Office) -> None:
    assert insist(office, "first")[0] == DONE
    office.sync("gmail", copied=False)
    assert look(office) == 0  # what the agent did itself
    change(office, "first", remove=LABEL)
    sync(office)
    assert not LabelCorrection.objects.exists()

    assert look(office) == 1

    row = LabelCorrection.objects.get()
    assert (row.item_id, row.label_id, row.lifted_at) == ("first", LABEL, None)
    assert look(office) == 0
    written = len(office.calls())
    assert insist(office, "second")[0] == [REFUSED]
    assert len(office.calls()) == written

    change(office, "second", add=LABEL)  # the newest word
    sync(office)
    assert look(office) == 1
    assert insist(office, "third")[0] == DONE


@pytest.mark.parametrize("first", ["webhook", "sync"])
def test_nothing_is_noted_twice_whichever_way_word_comes_first(office: Office, first: str) -> None:
    assert insist(office, "first")[0] == DONE
    office.sync("gmail", copied=False)
    [body] = change(office, "first", remove=LABEL)

    def come_after_all() -> None:
        intake.accept_delivery("default", "late", ItemEvent.model_validate(body))
        office.drain()

    if first == "webhook":
        come_after_all()
        noted = LabelCorrection.objects.get()
        sync(office)
        assert look(office) == 0
    else:
        sync(office)
        assert look(office) == 1
        noted = LabelCorrection.objects.get()
        come_after_all()
        assert look(office) == 0

    row = LabelCorrection.objects.get()
    assert (row.at, row.lifted_at) == (noted.at, None)


def test_a_webhook_that_comes_between_sync_and_sweep_says_it(office: Office) -> None:
    assert insist(office, "first")[0] == DONE
    office.sync("gmail", copied=False)
    [body] = change(office, "first", remove=LABEL)
    sync(office)

    intake.accept_delivery("default", "late", ItemEvent.model_validate(body))
    office.drain()

    assert LabelCorrection.objects.get().item_id == "first"
    assert look(office) == 0


def test_what_the_agent_replaced_and_only_a_sync_read_back_corrects_nothing(
    office: Office,
) -> None:
    mailbox = Account.objects.get(external_user_id="maya", source="gmail")
    listed = AllowedActionOption.objects.filter(account=mailbox, external_id__in=[LABEL, OTHER])
    assert listed.filter(action_type="classify").update(
        group=TargetGroup.objects.create(account=mailbox, name="Kind", cardinality="single")
    )
    wishes = [calls(("classify", {"email_id": "first", "label_id": one})) for one in (LABEL, OTHER)]
    with scripted({INGEST: summary, READER: [*wishes, "Done."]}):
        put(office, "first", **{"from": SHOP})
    office.sync("gmail", copied=False)
    row = Item.objects.get(source_id="first")
    assert row.metadata["labels"] == ["INBOX", "UNREAD", OTHER]
    # As where a provider says nothing of what it did for the agent.
    row.metadata["labels"] = ["INBOX", "UNREAD", LABEL]
    row.own_since, row.source_version = None, 0
    row.save()
    sync(office)

    assert look(office) == 1

    assert not LabelCorrection.objects.exists()
    assert insist(office, "second")[0] == DONE


def test_a_paused_account_is_looked_at_when_it_goes_on(office: Office) -> None:
    assert insist(office, "first")[0] == DONE
    office.sync("gmail", copied=False)
    change(office, "first", remove=LABEL)
    sync(office)
    mailbox = Account.objects.filter(external_user_id="maya", source="gmail")
    mailbox.update(paused=True)
    assert look(office) == 0
    mailbox.update(paused=False)

    office.control("DELETE", "/users/maya/emails/first")
    lose_webhooks(office)
    assert look(office) == 1

    assert not LabelCorrection.objects.exists()  # deleted meanwhile, which takes nothing back
    assert look(office) == 0


def test_the_state_that_a_person_gave_a_thread_is_the_whole_threads(office: Office) -> None:
    office.sync("gmail", copied=False)
    mail = office.deliver("question")
    office.drain()
    with scripted({INGEST: summary, READER: ["Nothing to do."]}):
        write(office, mail, "again", minutes=9, labels=["INBOX", "UNREAD"])
        assert statuses(office, mail["thread_id"]) == {mail["id"]: ["label_to_reply"]}
        change(office, "again", add="label_actioned")
        sync(office)

        assert look(office) == 1

    assert statuses(office, mail["thread_id"]) == {"again": ["label_actioned"]}
    turn = Turn.objects.get(item_source_id="again", kind="thread")
    assert [one["status"] for one in turn.actions] == ["succeeded"]
