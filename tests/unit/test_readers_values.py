"""A number, a price or a cell of a document says in our text what it says to whoever sees it."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime, time, timedelta

import pytest
from docx import Document
from openpyxl import Workbook
from openpyxl.styles import Font
from pptx import Presentation
from pptx.util import Inches
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Paragraph, SimpleDocTemplate

from knowledge.ingestion.errors import NoText, TooLarge
from knowledge.ingestion.readers.formats import parse
from knowledge.ingestion.readers.html import markdown_of
from knowledge.ingestion.readers.parsed import ParsedText
from knowledge.text.normalising import normalise
from tests import made_files as made


def read(name: str, data: bytes) -> str:
    (found,) = parse(name, data)
    assert isinstance(found, ParsedText)
    return found.body


def table(*rows: str) -> str:
    return markdown_of(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")


@pytest.mark.parametrize(
    ("fragment", "text"),
    [
        ("AED 500<sup>1</sup>", "AED 500 ¹"),
        ("$79<sup>99</sup>", "$79 ⁹⁹"),
        ("10<sup>6</sup>", "10 ⁶"),
        ("10<sup>-6</sup>", "10⁻⁶"),
        ("<b>500</b><a><sup><i>1</i></sup></a>", "**500** *¹*"),
        ("٥٠٠<sup>١</sup>", "٥٠٠ ¹"),
        ("Fee<sup>1</sup>50", "Fee¹ 50"),
        ("1<sup>1</sup>/<sub>2</sub> h", "1 ¹/₂ h"),
        ("20 m<sup>2</sup>, CO<sub>2</sub>", "20 m², CO₂"),
        ("the 1<sup>st</sup>, 500<sup>[1]</sup>", "the 1st, 500[1]"),
        ("500<sup>1 until 2027</sup>", "500 1 until 2027"),
        ("500<span style='Font-size: 8px; vertical-align: super'>1</span>", "500 ¹"),
        ("<math><msup><mn>10</mn><mn>6</mn></msup></math>", "10 ⁶"),
    ],
)
def test_a_raised_number_does_not_join_the_one_before_it(fragment, text):
    assert markdown_of(f"<p>{fragment}</p>") == text


def test_a_raised_number_is_apart_for_the_search_too():
    assert normalise(markdown_of("AED 500<sup>1</sup>")) == "aed 500 1"


def test_a_word_document_keeps_raised_numbers_apart():
    document = Document()
    paragraph = document.add_paragraph("AED 500")
    paragraph.add_run("1").font.superscript = True
    paragraph.add_run(", 20 m")
    paragraph.add_run("2").font.superscript = True
    paragraph.add_run(", CO")
    paragraph.add_run("2").font.subscript = True
    assert read("fees.docx", made.saved(document)) == "AED 500 ¹, 20 m², CO₂"


@pytest.mark.parametrize(
    "fragment",
    [
        "<del>AED 99</del> <ins>AED 79</ins>",
        "<s>AED 99</s> AED 79",
        "<strike>AED 99</strike> AED 79",
        "<span style='text-decoration: line-through red'>AED 99</span> AED 79",
    ],
)
def test_what_is_struck_out_is_not_told(fragment):
    assert markdown_of(f"<p>{fragment}</p>") == "AED 79"


def test_what_stands_around_struck_out_text_stays_apart():
    assert markdown_of("<p>AED 99<s>50</s>79</p>") == "AED 99 79"


def test_a_page_that_is_struck_out_altogether_holds_no_text():
    with pytest.raises(NoText):
        read("a.html", b"<s><p>The fee is AED 99.</p></s>")


def test_what_is_struck_out_in_a_word_document_is_not_told():
    document = Document()
    paragraph = document.add_paragraph("It costs ")
    paragraph.add_run("AED 99").font.strike = True
    paragraph.add_run(" AED 79.")
    assert read("fees.docx", made.saved(document)) == "It costs AED 79."


def test_a_cell_over_two_rows_stands_in_both():
    assert table(
        "<th>Card</th><th>Channel</th><th>Fee</th>",
        "<td rowspan=2>Gold</td><td>Branch</td><td>50</td>",
        "<td>App</td><td>20</td>",
        "<td>Basic</td><td>App</td><td>0</td>",
    ) == (
        "| Card | Channel | Fee |\n| --- | --- | --- |\n| Gold | Branch | 50 |\n"
        "| Gold | App | 20 |\n| Basic | App | 0 |"
    )


def test_a_heading_over_two_columns_stands_over_both():
    assert markdown_of(
        "<table><thead><tr><th rowspan=2>Card</th><th colspan=2>Fee</th></tr>"
        "<tr><th>Branch</th><th>App</th></tr></thead>"
        "<tbody><tr><td>Gold</td><td>50</td><td>20</td></tr></tbody></table>"
    ) == ("| Card | Fee | Fee |\n| --- | --- | --- |\n| Card | Branch | App |\n| Gold | 50 | 20 |")


def test_a_cell_in_the_middle_of_others_keeps_those_behind_it_in_place():
    assert table(
        "<th>A</th><th>B</th><th>C</th>",
        "<td>1</td><td rowspan=0>2</td><td>3</td>",
        "<td>4</td><td>5</td>",
    ).endswith("| 1 | 2 | 3 |\n| 4 | 2 | 5 |")


def test_a_cell_over_more_columns_than_there_are_adds_none():
    assert table("<td colspan=1000>Fees</td>", "<td>Gold</td><td>5</td>") == (
        "| Fees | Fees |\n| --- | --- |\n| Gold | 5 |"
    )


def test_a_cell_over_more_rows_than_there_are_adds_none():
    lines = table("<td>Card</td><td>Fee</td>", "<td rowspan=60000>Gold</td><td>5</td>").split("\n")
    assert lines == ["| Card | Fee |", "| --- | --- |", "| Gold | 5 |"]


def test_spans_without_end_are_refused():
    with pytest.raises(TooLarge, match="cells"):
        table(*["<td rowspan=60000 colspan=100>x</td>" * 60] * 100)


def test_a_long_text_beside_the_rows_is_told_once():
    long = "The fee is taken each month. " * 30
    body = table(f"<td rowspan=2>{long}</td><td>Gold</td>", "<td>Basic</td>")
    assert body.count(long.strip()) == 1
    assert body.endswith("|  | Basic |")


def test_a_table_in_a_cell_of_two_rows_is_told_once():
    inner = "<table><tr><td rowspan=2>deep</td><td>1</td></tr><tr><td>2</td></tr></table>"
    assert table(f"<td rowspan=2>{inner}</td><td>a</td>", "<td>b</td>").count("| deep | 1 |") == 1


def test_a_rule_in_a_cell_does_not_end_it():
    assert table("<th>Card</th><th>Fee</th>", "<td>Visa|<b>a|b</b>|</td><td>5</td>").endswith(
        "| Visa\\|**a\\|b**\\| | 5 |"
    )


def test_merged_cells_of_a_word_document_stand_in_every_row_and_column():
    document = Document()
    grid = document.add_table(rows=4, cols=3)
    texts = ("Card", "Fee", "", "", "Branch", "App", "Gold", "50", "20", "", "60", "30")
    for place, text in enumerate(texts):
        grid.cell(place // 3, place % 3).text = text
    grid.cell(0, 1).merge(grid.cell(0, 2))
    grid.cell(0, 0).merge(grid.cell(1, 0))
    grid.cell(2, 0).merge(grid.cell(3, 0))
    assert read("fees.docx", made.saved(document)) == (
        "| Card | Fee | Fee |\n| --- | --- | --- |\n| Card | Branch | App |\n"
        "| Gold | 50 | 20 |\n| Gold | 60 | 30 |"
    )


@pytest.mark.parametrize(
    "fragment",
    [
        "<details><summary>What does it cost?</summary>AED 5</details>",
        "<header>What does it cost?</header>AED 5",
        "<fieldset><legend>What does it cost?</legend>AED 5</fieldset>",
        "<center>What does it cost?</center><main>AED 5</main>",
    ],
)
def test_what_stands_by_itself_does_not_join_what_follows(fragment):
    assert markdown_of(fragment) == "What does it cost?\n\nAED 5"


# Workbooks know no zones.
HALF_PAST_NINE = datetime.combine(date(2026, 1, 5), time(9, 30))


def cell(value: object, number_format: str = "General", font: Font | None = None) -> str:
    """What a cell under the heading "Value" comes to."""
    book = Workbook()
    book.active.append(("Value", "Name"))
    book.active.append((value, "x"))
    book.active["A2"].number_format = number_format
    if font is not None:
        book.active["A2"].font = font
    return read("a.xlsx", made.saved(book)).rpartition("\n")[2].split("|")[1].strip()


@pytest.mark.parametrize(
    ("value", "number_format", "text"),
    [
        (0.025, "0.0%", "2.5%"),
        (0.025, "0.00%", "2.50%"),
        (0.5, "0%", "50%"),
        (123456789.95, "General", "123456789.95"),
        (0.1 + 0.2, "General", "0.3"),
        (123456789.95, "#,##0.00", "123,456,789.95"),
        (1.005, "0.00", "1.01"),
        (5, "0.00", "5.00"),
        (12.5, "#,##0.##", "12.5"),
        (7, "00000", "00007"),
        (1234.5, '"AED "#,##0.00', "AED 1,234.50"),
        (1234.5, "[$AED] #,##0.00", "AED 1,234.50"),
        (1234.5, "#,##0.00\\ [$€-407]", "1,234.50 €"),
        (1500000, '0.0,,"M"', "1.5M"),
        (-1234.5, r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)', "$(1,234.50)"),
        (0, r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)', "$-"),
        (-5, "0;[Red]0", "-5"),
        (-5, "0.00", "-5.00"),
        (3, ";;;", ""),
        (0.5, "# ?/?", "0.5"),
        (12345, "0.00E+00", "12345"),
        (5551234567, "000-000-0000", "5551234567"),
        (1234, "[>=1000]0.0,k;0", "1234"),
        (True, "General", "TRUE"),
        (date(2026, 1, 5), "mm-dd-yy", "2026-01-05"),
        (date(2026, 1, 5), "[$-409]dddd, mmmm d, yyyy", "2026-01-05"),
        (date(2026, 1, 5), "mmm-yy", "2026-01"),
        (date(2026, 1, 5), "mmmm", "January"),
        (date(2026, 1, 5), "dddd", "Monday"),
        (HALF_PAST_NINE, "m/d/yy h:mm", "2026-01-05 09:30"),
        (HALF_PAST_NINE, "yyyy-mm-dd", "2026-01-05"),
        (time(9, 0), "h:mm AM/PM", "09:00"),
        (time(9, 0, 5), "h:mm:ss", "09:00:05"),
        (timedelta(hours=26, minutes=5), "[h]:mm", "26:05"),
    ],
)
def test_a_cell_says_what_it_shows(value, number_format, text):
    assert cell(value, number_format) == text


def test_a_cell_that_is_struck_out_is_empty():
    assert cell(99, font=Font(strike=True)) == ""


def folded() -> str:
    """A price list whose costs, and whose second and fifth row, nobody sees."""
    book = Workbook()
    for row in [("Card", "Cost", "Margin", "Price"), ("Old", 1, 2, 3), ("Gold", 40, 10, 50)]:
        book.active.append(row)
    book.active.append(())
    book.active.append(("Staff", 5, 0, 5))
    book.active.append(("Silver", 20, 10, 30))
    book.active.column_dimensions.group("B", "C", hidden=True)
    for number in (2, 5):
        book.active.row_dimensions[number].hidden = True
    return read("a.xlsx", made.saved(book))


def test_rows_and_columns_that_are_hidden_are_not_told():
    rows = [line for line in folded().splitlines() if line.startswith("|")]
    told = [[value.strip() for value in row.strip("|").split("|")] for row in rows]
    assert [row for row in told if row[0] in {"Card", "Gold", "Silver", "Old", "Staff"}] == [
        ["Card", "Price"],
        ["Gold", "50"],
        ["Silver", "30"],
    ]


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
SHARED = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"


def workbook_of_runs(runs: str) -> bytes:
    """A workbook of one cell, which is written as office programs write text in several looks."""
    book = Workbook()
    book.active.append(("words",))
    with zipfile.ZipFile(io.BytesIO(made.saved(book))) as files:
        entries = {name: files.read(name).decode() for name in files.namelist()}
    sheet, types = "xl/worksheets/sheet1.xml", "[Content_Types].xml"
    inline = 't="inlineStr"><is><t>words</t></is>'
    assert inline in entries[sheet]
    entries[sheet] = entries[sheet].replace(inline, 't="s"><v>0</v>')
    part = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{SHARED}"/></Types>'
    entries[types] = entries[types].replace("</Types>", part)
    entries["xl/sharedStrings.xml"] = f'<sst xmlns="{MAIN}"><si>{runs}</si></sst>'
    return made.archive({**entries})


def test_a_cell_keeps_raised_digits_apart_and_drops_what_is_struck_out():
    runs = (
        "<r><t>AED 500</t></r><r><rPr><vertAlign val='superscript'/></rPr><t>1</t></r>"
        "<r><t xml:space='preserve'> </t></r><r><rPr><strike/></rPr><t>AED 600</t></r>"
    )
    assert "| AED 500 ¹ |" in read("a.xlsx", workbook_of_runs(runs))


def slide(*runs: tuple[str, dict[str, str]]) -> str:
    deck = Presentation()
    shown = deck.slides.add_slide(deck.slide_layouts[5])
    shown.shapes.title.text = "Fees"
    frame = shown.shapes.add_textbox(Inches(1), Inches(2), Inches(4), Inches(1)).text_frame
    for text, looks in runs:
        run = frame.paragraphs[0].add_run()
        run.text = text
        for name, value in looks.items():
            run.font._element.set(name, value)
    return read("a.pptx", made.saved(deck)).removeprefix("## Fees\n\n")


def test_a_slide_keeps_raised_digits_apart_and_drops_what_is_struck_out():
    raised, struck = {"baseline": "30000"}, {"strike": "sngStrike"}
    assert slide(("AED 500", {}), ("1", raised), (" ", {}), ("AED 600", struck)) == "AED 500 ¹"
    assert slide(("CO", {}), ("2", {"baseline": "-25000"}), (" is out", {})) == "CO₂ is out"


def test_merged_cells_of_a_slide_stand_in_every_row_and_column():
    deck = Presentation()
    shown = deck.slides.add_slide(deck.slide_layouts[6])
    grid = shown.shapes.add_table(3, 3, Inches(1), Inches(2), Inches(4), Inches(1)).table
    texts = ("Card", "Fee", "", "Gold", "Branch", "50", "", "App", "20")
    for place, text in enumerate(texts):
        grid.cell(place // 3, place % 3).text = text
    grid.cell(0, 1).merge(grid.cell(0, 2))
    grid.cell(1, 0).merge(grid.cell(2, 0))
    assert read("a.pptx", made.saved(deck)) == (
        "| Card | Fee | Fee |\n| --- | --- | --- |\n| Gold | Branch | 50 |\n| Gold | App | 20 |"
    )


def pdf(*paragraphs: str) -> str:
    target = io.BytesIO()
    style = getSampleStyleSheet()["BodyText"]
    SimpleDocTemplate(target).build([Paragraph(text, style) for text in paragraphs])
    return read("a.pdf", target.getvalue())


def test_a_pdf_keeps_raised_digits_apart():
    body = pdf(
        "The fee is AED 500<super>1</super>, the cap 10<super size=6>6</super>, 20 m<super>2</super>.",
        "<super size=6 rise=4>1</super> Waived on the 1<super>st</super> of each month.",
    )
    assert body == ("The fee is AED 500 ¹, the cap 10 ⁶, 20 m². ¹ Waived on the 1st of each month.")


def test_small_print_in_a_pdf_is_read_as_it_is():
    assert pdf("The fee is AED 500 <font size=6>until 2027</font> for all.") == (
        "The fee is AED 500 until 2027 for all."
    )
