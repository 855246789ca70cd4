"""`manage.py connect_google`: an account of somebody's own at Google."""

from integrations.management.sign_in import SignInCommand
from integrations.providers.google.servers import HOW_LONG


class Command(SignInCommand):
    help = (
        "Connects a mailbox, calendars or files at Google: their user signs in at Google's own "
        "page in a browser on this machine, Remit says what it can do and prove there, and stores "
        "it. Nothing is allowed at first: it is read alone. Again for the same address, it takes a "
        "new consent. Set "
        "GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET to those of a client of the kind “Desktop app”, "
        f"or of one with http://127.0.0.1:PORT/ among its addresses. {HOW_LONG}"
    )
    sources = {"mail": "google_mail", "calendar": "google_calendar", "files": "google_drive"}
