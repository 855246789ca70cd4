"""The files of one item: asked for at the provider and read, as far as the limits allow."""

from collections.abc import Mapping, Sequence
from tempfile import TemporaryFile
from time import monotonic

from integrations.accounts.reads import reader
from integrations.contracts import AccountRef
from integrations.exceptions import NotFound, ProviderError, TooLarge
from integrations.ports.account import Files
from knowledge.files import reading
from knowledge.files.contracts import (
    MAX_BYTES,
    MAX_FILES,
    SECONDS_AN_ITEM,
    FileRef,
    FileText,
)
from knowledge.files.kinds import Kind, kind_of


def fetch(
    account: AccountRef,
    refs: Sequence[FileRef],
    *,
    known: Mapping[FileRef, FileText],
    files: Files | None = None,
) -> tuple[FileText, ...]:
    """What is in each of `refs`, in order. What is `known` is neither asked for nor read again.
    Their bytes come from the account's provider, unless `files` says where else.

    Never raises: a file that cannot be had or read is answered with the reason.
    """
    found: list[FileText] = []
    began, opened = monotonic(), 0
    for ref in refs:
        kind = kind_of(name=ref.name, mime_type=ref.mime_type)
        if ref in known:
            found.append(known[ref])
        elif kind is None:
            found.append(FileText(reason="unknown_kind"))
        elif not ref.file_id:
            found.append(FileText(reason="not_offered"))
        elif ref.size > MAX_BYTES:
            found.append(FileText(reason="too_large"))
        elif opened == MAX_FILES or monotonic() - began > SECONDS_AN_ITEM:
            found.append(FileText(reason="too_many"))
        else:
            try:
                files = files or reader(account)
                found.append(_read(files, ref, kind))
            except ProviderError as error:
                found.append(FileText(reason="unavailable" if error.retryable else "refused"))
            opened += 1
    return tuple(found)


def _read(files: Files, ref: FileRef, kind: Kind) -> FileText:
    with TemporaryFile() as file:
        try:
            files.file(ref.file_id, into=file, most_bytes=MAX_BYTES)
        except NotFound:
            return FileText(reason="gone")
        except TooLarge:
            return FileText(reason="too_large")
        return reading.read(kind, file)
