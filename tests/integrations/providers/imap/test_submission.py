"""Conversations with a real submission server (Postfix) that break off at every byte. What others
received is what counts."""

import smtplib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import pytest

from integrations.contracts.outgoing import OutgoingMail
from integrations.exceptions import Unavailable
from integrations.models import Credential
from integrations.ports.evidence import CannotTell, NotPerformed, Performed
from tests.fault_proxy import Fault, Proxy, Way, running_proxy
from tests.integrations.providers.imap.box import Box
from tests.long import times
from tests.mail_world import MailWorld
from tests.postfix_world import needs_postfix, running_postfix

pytestmark = [needs_postfix, pytest.mark.django_db]

TOM = "tom@office.test"
# What TLS 1.3 adds to a word: a header, the kind of record and a tag.
TLS_BYTES = 5 + 1 + 16
STEP = times(101, long=1)  # between two bytes, away from the last word
SWAYING = 6  # bytes that signatures and the names of mails are shorter or longer
WAYS: tuple[Way, ...] = ("up", "down")
Place = tuple[Way, int]


@pytest.fixture(scope="module", params=[True, False], ids=["in chunks", "in one piece"])
def world(request: pytest.FixtureRequest) -> Iterator[MailWorld]:
    with running_postfix(is_chunked=request.param) as running:
        yield running


@pytest.fixture
def is_chunked(request: pytest.FixtureRequest) -> bool:
    return bool(request.node.callspec.params["world"])


@pytest.fixture
def sender(box: Box, is_chunked: bool) -> "Iterator[Sender]":
    found = Sender(box, b"bytes" if is_chunked else b"End data with")
    with (
        running_proxy(box.world.smtp, draw=found.draw) as found.proxy,
        mock.patch.object(smtplib.SMTP, "getreply", found.listening()),
    ):
        servers: dict[str, Any] = box.world.servers | {"files_sent": True}
        servers["smtp"]["port"] = found.proxy.port
        Credential.objects.filter(account_id=box.account.id).update(servers=servers)
        yield found


def test_wherever_the_conversation_breaks_off_a_mail_goes_out_once(
    sender: "Sender", is_chunked: bool
) -> None:
    sender.write(next(sender.keys))
    ((begin, end),) = sender.talks
    places: list[Place] = []
    for way in WAYS:
        step = 1 if is_chunked else 5  # in one piece, the text may be in doubt, too
        last = range(begin[way] - SWAYING, end[way] + SWAYING, step)
        places += [(way, at) for at in (*range(0, begin[way] - SWAYING, STEP), *last)]

    sent = [one for place in places if (one := sender.send(Fault("cut", *place)))]

    received = sender.received()
    # Once, and where nobody can tell once or not at all.
    assert {received[one.key] for one in sent if one.word == "sent"} == {1}
    assert {received[one.key] for one in sent if one.word == "in doubt"} == {0, 1}
    assert [one for one in sent if one.word == "not sent"] == []
    doubtful = [one for one in sent if one.word == "in doubt"]
    assert [one for one in doubtful if one.after is None] == []
    if is_chunked:
        assert doubtful == [one for one in sent if one.after is not None]
        answer = len(sender.answer) + TLS_BYTES
        after = {way: {one.after for one in doubtful if one.way == way} for way in WAYS}
        assert after["up"] == set(range(len(b"BDAT 0 LAST\r\n") + TLS_BYTES))
        assert after["down"] <= set(range(answer + SWAYING))


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What was said of a mail whose conversation was broken off; how many bytes after the server
    had said that it takes the text, where that was the last that it said."""

    key: str
    word: str
    way: Way
    after: int | None


class Sender:
    """One user's mails through a proxy that breaks conversations off."""

    proxy: Proxy

    def __init__(self, box: Box, takes: bytes) -> None:
        self.box, self.answer, self._takes = box, b"", takes
        self.keys = (f"0199aaaa-0000-7000-8000-{number:012}" for number in range(100_000))
        # Of each conversation: how many bytes had passed when the server had said that it takes
        # the text, and when it had answered to the whole mail.
        self.talks: list[list[Counter[Way]]] = []
        self._faults: list[Fault] = []
        self._before: Counter[Way] = Counter()

    def draw(self) -> Fault | None:
        """For each conversation, when it begins."""
        self._before = Counter(self.proxy.passed)
        self.talks.append([])
        return self._faults.pop() if self._faults else None

    def listening(self) -> Any:
        original = smtplib.SMTP.getreply

        def getreply(smtp: Any) -> tuple[int, bytes]:
            code, said = original(smtp)
            if self._takes in said or b"queued" in said:
                self.talks[-1].append(self.proxy.passed - self._before)
                self.answer = b"%d %b\r\n" % (code, said)
            return code, said

        return getreply

    def send(self, fault: Fault) -> Sent | None:
        """None where the conversation was over before it."""
        key, talk = next(self.keys), len(self.talks)
        self._faults.append(fault)
        try:
            self.write(key)
            word = "sent"
        except Unavailable as error:
            word = "in doubt" if error.outcome_unknown else "not sent"
        if fault not in self.proxy.met:
            return None
        expected = {"sent": Performed, "in doubt": CannotTell, "not sent": NotPerformed}
        assert isinstance(self.box.reader.evidence(key), expected[word])
        taken = self.talks[talk]  # where it has two, the fault met the farewell
        after = fault.after - taken[0][fault.way] if len(taken) == 1 else None
        return Sent(key=key, word=word, way=fault.way, after=after)

    def write(self, key: str) -> None:
        mail = OutgoingMail(to=(TOM,), subject="Lunch", body=".At noon.\n")
        self.box.writer.send_email(mail, key=key)

    def received(self) -> Counter[str]:
        """How often each key's mail came in at Tom's."""
        world: Any = self.box.world
        world.await_delivery()
        with world.client(TOM) as client:
            client.select_folder("INBOX", readonly=True)
            mails = client.fetch(client.search(["FROM", self.box.address]), ["ENVELOPE"]).values()
        ids = [one[b"ENVELOPE"].message_id.decode() for one in mails]
        return Counter(id.strip("<>").partition("@")[0] for id in ids)
