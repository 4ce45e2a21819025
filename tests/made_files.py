"""Small files of every kind, made by the libraries people make them with."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from email.message import EmailMessage
from functools import cache

from docx import Document
from openpyxl import Workbook
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib import colors
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import PageBreak, Paragraph, SimpleDocTemplate, Table

GRID = [("GRID", (0, 0), (-1, -1), 1, colors.black)]
SENTENCE = "You can return any item within thirty days of delivery for a full refund. "


def word() -> bytes:
    document = Document()
    document.add_heading("Refund policy", 0)
    document.add_heading("Who may return", 1)
    document.add_paragraph(SENTENCE)
    for text in ("Unused items", "Items in their box"):
        document.add_paragraph(text, style="List Bullet")
    for text in ("Open the account", "Choose refund"):
        document.add_paragraph(text, style="List Number")
    table = document.add_table(rows=0, cols=2)
    for left, right in (("Plan", "Fee"), ("Basic", "5"), ("Pro", "10")):
        cells = table.add_row().cells
        cells[0].text, cells[1].text = left, right
    return saved(document)


def slides() -> bytes:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Refund policy"
    frame = slide.placeholders[1].text_frame
    frame.text = "Within thirty days"
    inner = frame.add_paragraph()
    inner.text, inner.level = "Unused items only", 1
    slide.notes_slide.notes_text_frame.text = "Mention the receipt."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Fees"
    table = second.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    for place, text in enumerate(("Plan", "Fee", "Basic", "5")):
        table.cell(place // 2, place % 2).text = text
    hidden = deck.slides.add_slide(deck.slide_layouts[5])
    hidden.shapes.title.text = "Internal margin"
    hidden._element.set("show", "0")
    return saved(deck)


def workbook() -> bytes:
    book = Workbook()
    fees = book.active
    fees.title = "Fees"
    for row in (("Plan", None, "Fee"), ("Basic", None, 5), ("Pro", None, 10.5), (None, None, None)):
        fees.append(row)
    hours = book.create_sheet("Hours")
    hours.append(("Day", "Open"))
    hours.append(("Monday", "9:00 | 18:00"))
    secret = book.create_sheet("Margins")
    secret.append(("secret", 1))
    secret.sheet_state = "hidden"
    return saved(book)


def pdf(pages: int = 1, *, password: str = "") -> bytes:
    styles = getSampleStyleSheet()
    story: list[object] = []
    for number in range(pages):
        story += [
            Paragraph(f"Refund policy {number + 1}", styles["Title"]),
            Paragraph("Who may return", styles["Heading2"]),
            Paragraph(SENTENCE * 4, styles["BodyText"]),
            Paragraph("• Unused items", styles["BodyText"]),
            Paragraph("• Items in their box", styles["BodyText"]),
            Table([["Plan", "Fee"], ["Basic", "5"], ["Pro", "10"]], style=GRID),
            PageBreak(),
        ]
    target = io.BytesIO()
    lock = StandardEncryption(password, ownerPassword="owner") if password else None
    SimpleDocTemplate(target, encrypt=lock).build(story, onFirstPage=_foot, onLaterPages=_foot)
    return target.getvalue()


def _foot(canvas: Canvas, page: object) -> None:
    canvas.drawString(72, 30, f"Acme, confidential, page {page.page}")  # type: ignore[attr-defined]


def scanned_pdf() -> bytes:
    target = io.BytesIO()
    canvas = Canvas(target)
    canvas.rect(72, 72, 400, 600, fill=1)
    canvas.save()
    return target.getvalue()


def book() -> bytes:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        "<metadata><dc:title>House rules</dc:title><dc:language>en</dc:language></metadata>"
        '<manifest><item id="b" href="two%20b.xhtml"/><item id="a" href="one.xhtml"/></manifest>'
        '<spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/package.opf"/></rootfiles></container>'
    )
    return archive(
        {
            "META-INF/container.xml": container,
            "OPS/package.opf": package,
            "OPS/one.xhtml": "<?xml version='1.0' encoding='utf-8'?><html><body><h1>First</h1><p>Be kind.</p></body></html>",
            "OPS/two b.xhtml": "<html><body><h1>Second</h1><ul><li>Knock</li></ul></body></html>",
        }
    )


def mail(*attached: tuple[str, bytes], html: str = "", text: str = "We close at six.") -> bytes:
    message = EmailMessage()
    message["Subject"] = "Öffnungszeiten"
    message["From"] = "someone@acme.example"
    message.set_content(text)
    if html:
        message.add_alternative(html, subtype="html")
    for name, data in attached:
        message.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def archive(entries: dict[str, str | bytes], *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", compression) as made:
        for name, data in entries.items():
            made.writestr(name, data)
    return target.getvalue()


@cache
def office_bomb() -> bytes:
    """600 MB of one letter behind the name of a Word document."""
    zeros = b" " * (50 * 1024 * 1024)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("[Content_Types].xml", "<Types/>")
        for number in range(12):
            made.writestr(f"word/part{number}.xml", zeros)
    return target.getvalue()


@cache
def lying_zip() -> bytes:
    """An entry that says it holds ten bytes and unpacks to 300 MB."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = b"a" * 1024 * 1024
    squeezed = b"".join([*(squeezer.compress(block) for _ in range(300)), squeezer.flush()])
    name, crc = b"a.txt", zlib.crc32(b"a" * 10)
    local = struct.pack(
        "<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, crc, len(squeezed), 10, len(name), 0
    )
    central = struct.pack(
        "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, crc, len(squeezed), 10, len(name),
        0, 0, 0, 0, 0, 0,
    )  # fmt: skip
    body = local + name + squeezed
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(central) + len(name), len(body), 0)
    return body + central + name + end


def saved(thing: object) -> bytes:
    target = io.BytesIO()
    thing.save(target)  # type: ignore[attr-defined]
    return target.getvalue()
