"""Where an address's servers are found."""

from pathlib import Path
from typing import Any

import certifi
import pytest

from integrations.accounts import connectables
from integrations.contracts.servers import Server, read_server
from integrations.exceptions import Rejected
from integrations.providers.imap import discovery
from integrations.providers.imap.servers import MailServers
from tests.dns_world import Dns
from tests.rebinding import answering

SAID = b"""<?xml version="1.0" encoding="UTF-8"?>
<clientConfig version="1.1"><emailProvider id="office.test">
  <incomingServer type="pop3"><hostname>pop.office.test</hostname><port>995</port>
    <socketType>SSL</socketType></incomingServer>
  <incomingServer type="imap"><hostname>plain.office.test</hostname><port>143</port>
    <socketType>plain</socketType></incomingServer>
  <incomingServer type="imap"><hostname>in.office.test</hostname><port>993</port>
    <socketType>SSL</socketType><authentication>password-cleartext</authentication></incomingServer>
  <outgoingServer type="smtp"><hostname>out.office.test</hostname><port>587</port>
    <socketType>STARTTLS</socketType></outgoingServer>
</emailProvider></clientConfig>"""
FOUND = MailServers(
    imap=Server(host="in.office.test", port=993),
    smtp=Server(host="out.office.test", port=587, security="starttls"),
)


@pytest.fixture(autouse=True)
def nobody_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "WELL_KNOWN", ())


@pytest.mark.parametrize("address", ["", "nonsense", "a@b@c.test", "ä@office.test"])
def test_what_is_no_address_finds_no_servers(address: str) -> None:
    with pytest.raises(Rejected, match="no mail address"):
        discovery.find_servers(address)


def test_known_providers_are_found_and_others_guessed() -> None:
    (found,) = discovery.find_servers("maya@GMAIL.com")
    assert (found.imap.host, found.smtp and found.smtp.host, found.files_sent) == (
        "imap.gmail.com",
        "smtp.gmail.com",
        True,
    )
    guessed = [one.imap.host for one in discovery.find_servers("maya@office.test")]
    assert guessed == ["imap.office.test", "mail.office.test"]
    title = connectables.of("microsoft_mail").title
    with pytest.raises(Rejected, match=f"own page: choose “{title}”"):
        discovery.find_servers("maya@outlook.com")


def test_what_a_domain_says_of_itself_is_tried_before_what_is_guessed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, settings: Any
) -> None:
    settings.OUTGOING_TO_PRIVATE = True
    with answering(tmp_path, SAID) as port:
        monkeypatch.setattr(certifi, "where", lambda: str(tmp_path / "ca.pem"))
        known = ("https://127.0.0.1:1/{domain}", f"https://127.0.0.1:{port}/{{domain}}.xml")
        monkeypatch.setattr(discovery, "WELL_KNOWN", known)

        found = discovery.find_servers("maya@office.test")

        assert [one.imap.host for one in found] == [
            "in.office.test",
            "imap.office.test",
            "mail.office.test",
        ]
        assert found[0] == FOUND
        settings.OUTGOING_TO_PRIVATE = False
        assert discovery.find_servers("maya@office.test")[0].imap.host == "imap.office.test"


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"<html>not here</html>",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]>" + SAID,
        SAID.decode().encode("utf-16"),
        SAID.replace(b"in.office.test", b"in office"),
        SAID.replace(b"<port>993<", b"<port>99999<"),
        SAID.replace(b"password-cleartext", b"OAuth2"),
    ],
)
def test_what_a_stranger_says_wrongly_is_nothing(answer: bytes) -> None:
    assert discovery.read_autoconfig(answer) is None


def test_a_server_is_named_with_its_port() -> None:
    assert read_server("a.test", usual_port=993) == Server(host="a.test", port=993)
    starttls = Server(host="a.test", port=587, security="starttls")
    assert read_server(" a.test:587 ", usual_port=465) == starttls
    assert read_server("a.test:1587", usual_port=465, security="starttls").security == "starttls"
    for wrong in ("", ":993", "a.test:0", "a.test:99999", "a.test:x"):
        with pytest.raises(ValueError, match=r"server|port"):
            read_server(wrong, usual_port=993)


def found(address: str = "maya@office.test") -> list[MailServers]:
    """Without the guesses behind."""
    return list(discovery.find_servers(address)[:-2])


def test_dns_names_servers_and_how_they_are_encrypted(dns: Dns) -> None:
    dns.srv("_imaps._tcp.office.test", "5 0 993 two.office.test.", "0 0 993 one.office.test.")
    dns.srv("_imap._tcp.office.test", "0 0 143 worse.office.test.")
    dns.srv("_submission._tcp.office.test", "0 0 587 out.office.test.")
    out = Server(host="out.office.test", port=587, security="starttls")

    assert found() == [
        MailServers(imap=Server(host="one.office.test", port=993), smtp=out),
        MailServers(imap=Server(host="two.office.test", port=993), smtp=out),
    ]
    assert [one.partition(".")[0] for one, _ in dns.asked] == [
        "_imaps",
        "_submissions",
        "_submission",
    ]

    dns.srv("_imaps._tcp.office.test", "0 0 0 .")
    dns.srv("_submissions._tcp.office.test", "0 0 465 out.office.test.")
    dns.srv("_submission._tcp.office.test", "0 0 0 .")
    assert found() == [
        MailServers(
            imap=Server(host="worse.office.test", port=143, security="starttls"),
            smtp=Server(host="out.office.test", port=465),
        )
    ]


def test_a_domain_that_offers_no_sending_has_its_mail_read_alone(dns: Dns) -> None:
    dns.srv("_imaps._tcp.office.test", "0 0 993 in.office.test.")
    dns.srv("_submissions._tcp.office.test", "0 0 0 .")

    assert found() == [MailServers(imap=Server(host="in.office.test", port=993))]


def test_a_domain_that_offers_no_mailboxes_has_none(dns: Dns) -> None:
    dns.srv("_imaps._tcp.office.test", "0 0 0 .")

    with pytest.raises(Rejected, match=r"The DNS of office\.test says that there is no such"):
        discovery.find_servers("maya@office.test")


@pytest.mark.parametrize("own", ["in", "out", "none"])
def test_another_site_is_named_and_not_taken(dns: Dns, own: str) -> None:
    imap = "in.office.test" if own == "in" else "in.evil.test"
    smtp = "out.office.test" if own == "out" else "out.evil.test"
    dns.srv("_imaps._tcp.office.test", f"0 0 993 {imap}.")
    dns.srv("_submissions._tcp.office.test", f"0 0 465 {smtp}.")
    others = [name for name in (f"{imap}:993", f"{smtp}:465") if "evil" in name]

    with pytest.raises(Rejected) as refused:
        discovery.find_servers("maya@office.test")

    assert f"names {' and '.join(others)}, which is another site." in str(refused.value)


def test_a_server_of_the_domain_is_taken_before_one_of_another_site(dns: Dns) -> None:
    dns.srv("_imaps._tcp.office.test", "0 0 993 in.evil.test.", "9 0 993 in.office.test.")

    assert found() == [MailServers(imap=Server(host="in.office.test", port=993))]


def test_dns_is_not_asked_of_known_providers_nor_where_a_domain_speaks_for_itself(
    dns: Dns, monkeypatch: pytest.MonkeyPatch
) -> None:
    dns.srv("_imaps._tcp.office.test", "0 0 993 dns.office.test.")
    discovery.find_servers("maya@gmail.com")
    monkeypatch.setattr(discovery, "_said_by", lambda domain: FOUND)

    assert found() == [FOUND]
    assert dns.asked == []


def test_without_an_answer_servers_are_guessed_as_ever(dns: Dns) -> None:
    guessed = [one.imap.host for one in discovery.find_servers("maya@office.test")]

    assert guessed == ["imap.office.test", "mail.office.test"]
    assert len(dns.asked) == 2
