"""Files as people attach them, made in the tests: PDF, Word, spreadsheets, archives."""

import io
import zipfile
from collections.abc import Mapping, Sequence

import docx
import pypdf


def pdf(*pages: str) -> bytes:
    """One line of ASCII text a page."""
    count = len(pages)
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(count))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {count} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET"
        objects += [
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842]"
            f" /Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>",
            f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        ]
    body, places = "%PDF-1.4\n", []
    for number, content in enumerate(objects, start=1):
        places.append(len(body))
        body += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    return (
        f"{body}xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(body)}\n%%EOF\n"
    ).encode("ascii")


def locked_pdf(text: str) -> bytes:
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(pdf(text)))
    writer.encrypt("secret", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def word(*paragraphs: str, table: Sequence[Sequence[str]] = (), footer: str = "") -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    if table:
        rows = document.add_table(rows=len(table), cols=len(table[0]))
        for row, texts in zip(rows.rows, table, strict=True):
            for cell, text in zip(row.cells, texts, strict=True):
                cell.text = text
    if footer:
        document.sections[0].footer.paragraphs[0].text = footer
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def sheet(cells: Mapping[str, str | float], *, name: str = "Sheet1") -> bytes:
    """A workbook of one sheet with these cells, by their names in order of rows."""
    rows: dict[str, list[str]] = {}
    for place, value in cells.items():
        row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        shown = (
            f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
            if isinstance(value, str)
            else f'<c r="{place}"><v>{value}</v></c>'
        )
        rows.setdefault(row, []).append(shown)
    data = "".join(f'<row r="{row}">{"".join(found)}</row>' for row, found in rows.items())
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    rel = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    packages = "http://schemas.openxmlformats.org/package/2006/relationships"
    kinds = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    return archive(
        {
            "[Content_Types].xml": (
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                '<Default Extension="rels"'
                ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/xl/workbook.xml" ContentType="{kinds}.sheet.main+xml"/>'
                '<Override PartName="/xl/worksheets/sheet1.xml"'
                f' ContentType="{kinds}.worksheet+xml"/></Types>'
            ).encode(),
            "_rels/.rels": (
                f'<Relationships xmlns="{packages}"><Relationship Id="rId1"'
                f' Type="{rel}/officeDocument" Target="xl/workbook.xml"/></Relationships>'
            ).encode(),
            "xl/_rels/workbook.xml.rels": (
                f'<Relationships xmlns="{packages}"><Relationship Id="rId1"'
                f' Type="{rel}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
            ).encode(),
            "xl/workbook.xml": (
                f'<workbook xmlns="{main}" xmlns:r="{rel}"><sheets>'
                f'<sheet name="{name}" sheetId="1" r:id="rId1"/></sheets></workbook>'
            ).encode(),
            "xl/worksheets/sheet1.xml": (
                f'<worksheet xmlns="{main}"><sheetData>{data}</sheetData></worksheet>'
            ).encode(),
        }
    )


def archive(members: Mapping[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            packed.writestr(name, content)
    return out.getvalue()


def bomb(unpacked: int) -> bytes:
    """A Word document of a few kilobytes that unpacks to so many bytes."""
    out = io.BytesIO(word("Hello."))
    with (
        zipfile.ZipFile(out, "a", zipfile.ZIP_DEFLATED) as packed,
        packed.open("word/media/image1.png", "w") as member,
    ):
        for _ in range(unpacked // 2**20 + 1):
            member.write(bytes(2**20))
    return out.getvalue()


def repacked(content: bytes, changed: Mapping[str, bytes]) -> bytes:
    """The archive with some members replaced."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    return archive(members | dict(changed))
