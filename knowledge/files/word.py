"""Word documents (docx), by python-docx: paragraphs and tables, headers and footers."""

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING

from knowledge.files.archives import refuse_bombs

if TYPE_CHECKING:
    from docx.blkcntnr import BlockItemContainer
    from docx.document import Document
    from docx.table import Table


def read(file: IO[bytes]) -> Iterator[str]:
    import docx  # noqa: PLC0415  # see pdf.read

    refuse_bombs(file)
    document = docx.Document(file)
    yield from _blocks(document)
    for section in document.sections:
        for part in (section.header, section.footer):
            if not part.is_linked_to_previous:
                yield from _blocks(part)


def _blocks(container: "BlockItemContainer | Document") -> Iterator[str]:
    from docx.table import Table  # noqa: PLC0415

    for block in container.iter_inner_content():
        if isinstance(block, Table):
            yield from _rows(block)
        else:
            yield f"{block.text}\n\n"


def _rows(table: "Table") -> Iterator[str]:
    for row in table.rows:
        # A merged cell stands once for each cell that it covers.
        cells = list(dict.fromkeys(cell._tc for cell in row.cells))
        texts = [" ".join(paragraph.text for paragraph in cell.p_lst) for cell in cells]
        yield " | ".join(text.strip() for text in texts) + "\n"
    yield "\n"
