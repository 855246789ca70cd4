"""`manage.py import_mailbox`: a real mailbox, read in and never written to."""

import getpass
import os
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from integrations.exceptions import NotFound, NotPermitted, ProviderError
from integrations.imports.imap import Folder, Login
from integrations.imports.imports import mail_pages
from integrations.mail.files import NoMailHere
from knowledge.sync import imports

PASSWORD = "REMIT_IMAP_PASSWORD"  # noqa: S105  # the variable's name
TLS_PORT, STARTTLS_PORT = 993, 143


class Command(BaseCommand):
    help = (
        "Reads mail into what a user's agent may search: FILE (an mbox, Maildir, .eml or a folder "
        "of .eml), or a folder of a mail server over IMAP with TLS. The mailbox is opened "
        "read-only and nothing is ever written to it. Safe to run again: it goes on where it "
        f"ended, and what is known costs nothing. The password comes from {PASSWORD} or is asked "
        "for."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, nargs="?")
        parser.add_argument("--imap", metavar="HOST[:PORT]", help="The mail server.")
        parser.add_argument("--login", help="The user's name there, most often the address.")
        parser.add_argument("--folder", default="INBOX", help="Which folder (%(default)s).")
        parser.add_argument(
            "--starttls", action="store_true", help=f"For a server on port {STARTTLS_PORT}."
        )
        parser.add_argument(
            "--days",
            type=int,
            default=30,
            help="How far back to read on a server (%(default)s); 0: all of it.",
        )
        imports.add_arguments(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        if bool(options["file"]) is bool(options["imap"]):
            raise CommandError("Name either a file or a mail server (--imap).")
        if options["file"]:
            self.from_file(options)
        else:
            self.from_server(options)
        self.stdout.write(f"Ask about it in the console as “{options['user']}”.")

    def from_file(self, options: dict[str, Any]) -> None:
        try:
            pages = mail_pages(options["file"], now=timezone.now())
        except NoMailHere as error:
            raise CommandError(str(error)) from error
        account = imports.find_account(options, source="mailbox")
        imports.run_import(
            account,
            pages,
            again=options["again"],
            say=self.stdout.write,
        )

    def from_server(self, options: dict[str, Any]) -> None:
        if not options["login"]:
            raise CommandError("Give the user name with --login.")
        since = timezone.now() - timedelta(days=options["days"])
        folder = Folder(
            login_of(options),
            folder=options["folder"],
            since=since.date() if options["days"] > 0 else None,
            now=timezone.now(),
        )
        try:
            opened(folder, options)
            account = imports.find_account(
                options,
                source="mailbox",
                address=options["login"] if "@" in options["login"] else "",
            )
            imports.run_import(
                account,
                folder,
                again=options["again"],
                say=self.stdout.write,
            )
        finally:
            folder.close()


def login_of(options: dict[str, Any]) -> Login:
    """Where to log in, with the password. Raises CommandError."""
    host, colon, port = options["imap"].rpartition(":")
    if not colon or not port.isdecimal():
        host, port = options["imap"], ""
    password = os.environ.get(PASSWORD) or ""
    if not password:
        if not sys.stdin.isatty():
            raise CommandError(
                f"Set {PASSWORD}, or run this in a terminal, which can ask for the password."
            )
        password = getpass.getpass(f"Password of {options['login']} at {host}: ")
    usual = STARTTLS_PORT if options["starttls"] else TLS_PORT
    return Login(
        host=host.strip("[]"),
        port=int(port) if port else usual,
        user=options["login"],
        password=password,
        starttls=options["starttls"],
    )


def opened(folder: Folder, options: dict[str, Any]) -> None:
    """Raises CommandError, with what to do, when it cannot be opened."""
    try:
        folder.open()
    except NotPermitted as error:
        raise CommandError(
            f"{options['imap']} cannot be read: {error}. Many providers want an app password "
            "for IMAP."
        ) from error
    except NotFound as error:
        raise CommandError(f"{options['imap']}: {error}.") from error
    except ProviderError as error:
        raise CommandError(
            f"{options['imap']} does not answer as a mail server ({error}). Give HOST:PORT, with "
            "--starttls where TLS is not spoken from the start."
        ) from error
