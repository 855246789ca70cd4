"""What of an account is read in at all, as its operator narrowed it. Pure."""

from integrations.contracts import AccountRef, AnyItem, Document, Issue


def covers(account: AccountRef, item: AnyItem) -> bool:
    """Whether Remit keeps this item of the account: by its project, or by its kind of file. Where
    nothing was said, everything is kept. A provider is asked for no more where it can be."""
    if isinstance(item, Issue):
        return not account.project_keys or item.project_key in account.project_keys
    if isinstance(item, Document):
        return not account.mime_types or item.mime_type in account.mime_types
    return True
