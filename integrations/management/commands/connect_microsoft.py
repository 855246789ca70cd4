"""`manage.py connect_microsoft`: an account of somebody's own at Microsoft."""

from integrations.management.sign_in import SignInCommand
from integrations.providers.microsoft.servers import HOW_LONG


class Command(SignInCommand):
    help = (
        "Connects a mailbox, calendars or files at Microsoft 365, Outlook.com or OneDrive: their "
        "user signs in at Microsoft's own page, in a browser on this machine or, with --device- "
        "code, on any other device. Remit says what it can do and prove there, and stores it. "
        "Nothing is allowed at first: it is read alone. Again for the same address, it takes a "
        "new consent. Set MICROSOFT_CLIENT_ID and MICROSOFT_CLIENT_SECRET to those of an "
        "application with http://127.0.0.1/ among its redirect addresses, and let it use codes "
        "where --device-code "
        f"is wanted. {HOW_LONG}"
    )
    sources = {
        "mail": "microsoft_mail",
        "calendar": "microsoft_calendar",
        "files": "microsoft_files",
    }
