"""Small PDFs and Word documents for tests, written by hand."""

import io
import zipfile
from collections.abc import Sequence

TOP, LEFT, LEADING, SIZE = 740, 72, 14, 12


def pdf(pages: Sequence[Sequence[str]], title: str = "") -> bytes:
    """Pages of lines in Helvetica; an empty line leaves a gap, `\\x1f` in a line is the ligature fi."""
    kids = " ".join(f"{5 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding << /BaseEncoding /WinAnsiEncoding "
        "/Differences [31 /fi] >> >>",
        f"<< /Title ({title}) /CreationDate (D:20240131120000Z) >>",
    ]
    for n, lines in enumerate(pages):
        shown = (
            f"1 0 0 1 {LEFT} {TOP - LEADING * row} Tm ({_escaped(line)}) Tj"
            for row, line in enumerate(lines)
            if line
        )
        content = f"BT /F1 {SIZE} Tf {' '.join(shown)} ET"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {6 + 2 * n} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    return _file(objects)


def _escaped(line: str) -> str:
    return line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _file(objects: Sequence[str]) -> bytes:
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("cp1252")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info 4 0 R >>"
    return (
        out
        + (
            f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}trailer\n{trailer}\nstartxref\n{len(out)}\n%%EOF"
        ).encode()
    )


def with_raw_body(word: bytes, body: str) -> bytes:
    """A Word document whose body is this XML."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(word)) as old, zipfile.ZipFile(out, "w") as new:
        for part in old.infolist():
            data = old.read(part)
            if part.filename == "word/document.xml":
                text = data.decode()
                start, end = text.index("<w:body>") + len("<w:body>"), text.index("<w:sectPr")
                data = (text[:start] + body + text[end:]).encode()
            new.writestr(part.filename, data)
    return out.getvalue()
