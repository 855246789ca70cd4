"""Zip archives that a stranger packed. Office files are such archives."""

import zipfile
from typing import IO

from knowledge.files.contracts import MAX_UNPACKED
from knowledge.files.exceptions import Encrypted, TooLargeUnpacked

MAX_MEMBERS = 10_000
_CHUNK = 1024 * 1024


def refuse_bombs(file: IO[bytes]) -> None:
    """Unpack everything once to nowhere: the sizes that an archive states are a stranger's word.

    Raises TooLargeUnpacked, Encrypted, or BadZipFile.
    """
    left = MAX_UNPACKED
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if len(members) > MAX_MEMBERS:
            raise TooLargeUnpacked
        for member in members:
            if member.flag_bits & 1:
                raise Encrypted
            with archive.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    left -= len(chunk)
                    if left < 0:
                        raise TooLargeUnpacked
    file.seek(0)
