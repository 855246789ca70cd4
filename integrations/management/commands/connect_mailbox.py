"""`manage.py connect_mailbox`: somebody's own mailbox, tried before anything is stored."""

import argparse
import getpass
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from integrations.accounts import connecting
from integrations.accounts.connecting import Offer, Wish
from integrations.contracts.servers import Server, read_server
from integrations.exceptions import ProviderError
from integrations.management.sentences import organisation_of, sentences
from integrations.ports.evidence import Ability
from integrations.providers.imap import discovery, trial
from integrations.providers.imap.servers import MailServers
from integrations.providers.jmap import trial as jmap

PASSWORD = "REMIT_MAIL_PASSWORD"  # noqa: S105  # the variable's name


class Command(BaseCommand):
    help = (
        "Connects a mailbox over JMAP, or else over IMAP and SMTP: finds its servers, signs in, "
        "says what Remit can do and prove there, and stores it. Nothing is allowed at first: it is "
        f"read alone. Again for the same address, it takes a new password. It comes from {PASSWORD}"
        " or is asked for; most providers want an app password, made in the account's settings "
        "there."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("address")
        parser.add_argument("--user", required=True, help="Whose mailbox: the user's id.")
        parser.add_argument("--organisation", default="default", help="By its slug (%(default)s).")
        parser.add_argument(
            "--display-name", default="", help="As it stands beside the address in mail."
        )
        parser.add_argument("--time-zone", default="UTC")
        parser.add_argument("--login", default="", help="Where it is not the address.")
        parser.add_argument(
            "--jmap", metavar="HOST[:PORT]", help="A server that speaks JMAP, where none is found."
        )
        parser.add_argument("--imap", metavar="HOST[:PORT]", help="Where it is not found.")
        parser.add_argument("--smtp", metavar="HOST[:PORT]", help="The server to send with.")
        parser.add_argument(
            "--starttls",
            choices=["imap", "smtp"],
            nargs="*",
            default=[],
            help="Servers that are encrypted by STARTTLS, where the port does not say so.",
        )
        parser.add_argument(
            "--bcc-self",
            action=argparse.BooleanOptionalAction,
            help="Whether the user gets a blind copy of each mail that Remit sends, which proves "
            "that it went out. Left out, it stays as it is.",
        )
        parser.add_argument("--try-only", action="store_true", help="Store nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        address, user_name = options["address"], options["login"] or options["address"]
        organisation = organisation_of(options["organisation"])
        wish = Wish(
            organisation_id=organisation.id,
            user_id=options["user"],
            address=address,
            user_name=user_name,
            display_name=options["display_name"],
            time_zone=options["time_zone"],
        )
        with sentences():
            found = self.over_jmap(wish, options) or self.over_imap(wish, options)
            if options["try_only"]:
                return
            account = connecting.accept(found)
            if options["bcc_self"] is not None:
                connecting.change(account, bcc_self=options["bcc_self"])
        self.stdout.write(
            "\nConnected. The last 30 days are read in within a minute, while `make run` runs.\n"
            "Nothing is allowed yet. Next:\n"
            f"  manage.py policy --user {options['user']} --source {found.wish.source} import "
            "--preset new-account --apply\n      lets the agent put mail away, label it and draft "
            "answers; it asks before it sends"
        )

    def over_jmap(self, mailbox: Wish, options: dict[str, Any]) -> Offer | None:
        """None where it is to be IMAP: a server that is named, a mailbox that is connected so, and
        a domain that does not say that it keeps mail there, or takes no sign-in there."""
        wish = replace(mailbox, source="jmap")
        named = jmap.read_url(options["jmap"]) if options["jmap"] else None
        if named is None and (options["imap"] or connecting.is_connected(mailbox)):
            return None
        url = named or self.find_jmap(wish)
        if url is None:
            return None
        secret = password()
        connecting.check(wish)
        try:
            tried = jmap.try_server(url, user_name=wish.user_name, secret=secret)
        except ProviderError as error:
            if named or connecting.is_connected(wish):
                raise
            self.say_imap(error)
            return None
        self.say(tried.server.session, tried.mails, tried.abilities)
        return connecting.make_offer(wish, tried.server.to_json(), secret=secret)

    def find_jmap(self, wish: Wish) -> str | None:
        """None where nobody speaks it at the address's domain, or DNS names another site."""
        try:
            url = jmap.find_url(wish.address)
        except ProviderError as error:
            if connecting.is_connected(wish):
                raise
            self.say_imap(error)
            return None
        return url if jmap.speaks(url) else None

    def say_imap(self, why: ProviderError) -> None:
        self.stdout.write(f"Over JMAP: {why} So it is tried over IMAP.")

    def over_imap(self, wish: Wish, options: dict[str, Any]) -> Offer:
        found = named(options) if options["imap"] else discovery.find_servers(wish.address)
        secret = password()
        connecting.check(wish)
        tried = trial.try_servers(found, user_name=wish.user_name, secret=secret)
        self.say(tried.servers.imap.host, tried.mails, tried.abilities)
        return connecting.make_offer(wish, tried.servers.to_json(), secret=secret)

    def say(self, server: str, mails: int, abilities: Sequence[Ability]) -> None:
        self.stdout.write(f"Signed in at {server}: {mails} mails in the inbox.")
        for one in abilities:
            self.stdout.write(f"  {one.grade or '-'}  {one.what}. {one.why}")


def password() -> str:
    given = os.environ.get(PASSWORD)
    if given is None and not sys.stdin.isatty():
        raise CommandError(f"Give the password in {PASSWORD}.")
    return getpass.getpass("Password: ") if given is None else given


def named(options: dict[str, Any]) -> tuple[MailServers, ...]:
    smtp = server("smtp", options, 465) if options["smtp"] else None
    return (MailServers(imap=server("imap", options, 993), smtp=smtp),)


def server(kind: str, options: dict[str, Any], usual_port: int) -> Server:
    try:
        return read_server(
            options[kind],
            usual_port=usual_port,
            security="starttls" if kind in options["starttls"] else None,
        )
    except ValueError as error:
        raise CommandError(str(error)) from error
