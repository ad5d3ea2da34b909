"""Word's files: what is shown is read, whatever it stands in, and nothing else is."""

from __future__ import annotations

from xml.sax.saxutils import escape

import pytest

from counterpoint.indexes.readers.base.raised import write_raised
from counterpoint.indexes.readers.prose.docx import read_docx
from counterpoint.retrieval.core.errors import BadInput
from counterpoint.service.checking.sentences import sentences_of
from tests.helpers.texts import word


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(*inside: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(inside)}</w:p>"


def read(*body: str, **parts: str) -> list[str]:
    passage = read_docx(word("".join(body), **parts), "a.docx")
    return [passage.text[one.start : one.end] for one in passage.blocks]


def kinds(*body: str, **parts: str) -> list[str]:
    return [one.kind for one in read_docx(word("".join(body), **parts), "a.docx").blocks]


RAISED = '<w:vertAlign w:val="superscript"/>'
CHANGES = [
    ("<w:ins>{}</w:ins>", True),
    ("<w:del>{}</w:del>", False),
    ("<w:moveFrom>{}</w:moveFrom>", False),
    ("<w:ins><w:del>{}</w:del></w:ins>", False),
    ("<w:sdt><w:sdtPr><w:alias w:val='x'/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>", True),
    ("<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>", False),
    ("<w:smartTag w:element='City'>{}</w:smartTag>", True),
    ("<w:fldSimple w:instr=' REF x '>{}</w:fldSimple>", True),
    ("<w:hyperlink w:anchor='x'>{}</w:hyperlink>", True),
    ("<mc:AlternateContent><mc:Choice Requires='x'>{}</mc:Choice><mc:Fallback>{}</mc:Fallback></mc:AlternateContent>", True),
]


@pytest.mark.parametrize(("around", "shown"), CHANGES)
def test_what_is_shown_is_read_once_and_what_is_gone_is_not(around: str, shown: bool) -> None:
    changed = around.replace("{}", run("does not reduce "))
    assert read(paragraph(run("Tea "), changed, run("fever."))) == [f"Tea {'does not reduce ' * shown}fever."]


@pytest.mark.parametrize(
    "around", ["<w:sdt><w:sdtContent>{}</w:sdtContent></w:sdt>", "<w:customXml>{}</w:customXml>", "<w:ins>{}</w:ins>"]
)
def test_paragraphs_and_tables_are_read_whatever_they_stand_in(around: str) -> None:
    row = "<w:tr>{}</w:tr>".format(around.replace("{}", f"<w:tc>{paragraph(run('Cell.'))}</w:tc>"))
    body = around.replace("{}", paragraph(run("Tea helps."))) + f"<w:tbl>{around.replace('{}', row)}</w:tbl>"
    assert (read(body), kinds(body)) == (["Tea helps.", "Cell."], ["paragraph", "cell"])


def test_deleted_rows_are_gone_and_a_paragraph_without_its_mark_goes_on_in_the_next() -> None:
    rows = "".join(
        f"<w:tr><w:trPr>{how}</w:trPr><w:tc>{paragraph(run(text))}</w:tc></w:tr>"
        for how, text in (("<w:del/>", "Old."), ("<w:ins/>", "New."))
    )
    mark = "<w:rPr><w:del/></w:rPr>"
    first, last = paragraph(run("Tea does "), properties=mark), paragraph(run("not help."), properties=mark)
    assert read(first, last, f"<w:tbl>{rows}</w:tbl>") == ["Tea does not help.", "New."]
    assert read(first, paragraph(run("not help."))) == ["Tea does not help."]


STYLES = (
    '<w:style w:styleId="H"><w:name w:val="heading 2"/></w:style><w:style w:styleId="Own"><w:basedOn w:val="H"/></w:style>'
    '<w:style w:styleId="T"><w:name w:val="toc 1"/></w:style>'
    '<w:style w:styleId="Gone"><w:rPr><w:vanish/></w:rPr></w:style><w:style w:styleId="Too"><w:basedOn w:val="Gone"/></w:style>'
    f'<w:style w:styleId="Up"><w:rPr>{RAISED}</w:rPr></w:style>'
    '<w:style w:styleId="Loop"><w:name w:val="x"/><w:basedOn w:val="Loop"/></w:style>'
)


@pytest.mark.parametrize(
    ("properties", "shown"),
    [("<w:vanish/>", False), ('<w:vanish w:val="0"/>', True), ('<w:vanish w:val="true"/>', False),
     ('<w:rStyle w:val="Too"/>', False), ('<w:rStyle w:val="Too"/><w:vanish w:val="false"/>', True), ("<w:webHidden/>", True)],
)  # fmt: skip
def test_hidden_text_is_not_read(properties: str, shown: bool) -> None:
    assert read(paragraph(run("Tea helps"), run(" not", properties), run(".")), styles=STYLES) == [f"Tea helps{' not' * shown}."]


def test_styles_and_numbers_give_the_kinds_and_a_table_of_contents_is_left_out() -> None:
    body = [paragraph(run("Text."), properties=f'<w:pStyle w:val="{style}"/>') for style in ("H", "Own", "T", "Loop", "None")]
    body.append(paragraph(run("Entry."), properties='<w:numPr><w:numId w:val="1"/></w:numPr>'))
    assert kinds(*body, styles=STYLES) == ["heading", "heading", "paragraph", "paragraph", "item"]


@pytest.mark.parametrize(
    ("inside", "shown"),
    [
        ('<w:r><w:sym w:font="Symbol" w:char="F062"/><w:t>-carotene</w:t></w:r>', "β-carotene"),
        (run("5 ") + run("m", '<w:rFonts w:ascii="Symbol" w:hAnsi="Symbol"/>') + run("g"), "5 μg"),
        (run("x") + '<w:r><w:sym w:font="Nowhere" w:char="F0FC"/></w:r>', "x\ufffd"),
        (run("x") + '<w:r><w:sym w:font="Arial" w:char="00B1"/></w:r>' + run("y"), "x±y"),
        ("<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t></w:r>", "a\tb\nc-d"),
        ("<m:oMath><m:sSup><m:e><m:r><m:t>10</m:t></m:r></m:e><m:sup><m:r><m:t>9</m:t></m:r></m:sup></m:sSup></m:oMath>", "10^9"),
        ("<m:oMathPara><m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f>"
         "<m:d><m:dPr><m:begChr m:val='['/><m:endChr m:val=']'/></m:dPr><m:e><m:r><m:t>c</m:t></m:r></m:e></m:d></m:oMath>"
         "</m:oMathPara>", "a/b[c]"),
    ],
)  # fmt: skip
def test_symbols_and_equations_are_characters(inside: str, shown: str) -> None:
    assert read(paragraph(inside)) == [shown]


def field(code: str, result: str) -> str:
    begin, separate, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end"))
    return f"{begin}<w:r><w:instrText>{code}</w:instrText></w:r>{separate}{result}{end}"


def test_a_field_shows_its_result_and_cites_what_its_code_names() -> None:
    inner = field(' ADDIN X {"DOI":"10.1000/a.1"} ', run("(Quill 2020)"))
    nested = field(" IF ", "").replace("</w:instrText></w:r>", "</w:instrText></w:r>" + field(" REF x ", run("code")), 1)
    raw = word(paragraph(run("Tea reduces fever "), inner, run("."), nested))
    passage = read_docx(raw, "a.docx")
    assert passage.text == "Tea reduces fever (Quill 2020)."
    assert [one.id for one in sentences_of(passage)[0].cited] == ["10.1000/a.1"]


def test_a_field_that_never_ends_hides_nothing() -> None:
    assert read(paragraph('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', run("Tea helps."))) == ["Tea helps."]


def test_links_and_notes_are_citations_and_notes_are_read() -> None:
    link = f'<w:hyperlink r:id="hyperlink">{run("here")}</w:hyperlink>'
    body = paragraph(
        run("Tea reduces fever "), link, run(". Coffee reduces fever."), '<w:r><w:footnoteReference w:id="2"/></w:r>'
    )
    notes = f'<w:footnote w:type="separator" w:id="0">{paragraph(run("-"))}</w:footnote><w:footnote w:id="2">{{}}</w:footnote>'
    raw = word(
        body,
        hyperlink="https://pubmed.ncbi.nlm.nih.gov/17/?a=1&b",
        footnotes=notes.replace("{}", paragraph(run("Quill, PMID 18."))),
    )
    passage = read_docx(raw, "a.docx")
    assert passage.text == "Tea reduces fever here. Coffee reduces fever.\n\nQuill, PMID 18."
    assert [[cited.id for cited in one.cited] for one in sentences_of(passage)][:2] == [["17"], ["18"]]


def test_a_text_box_follows_its_paragraph_and_is_read_once() -> None:
    box = f"<w:txbxContent>{paragraph(run('In the box.'))}</w:txbxContent>"
    drawn = (
        f"<w:r><mc:AlternateContent><mc:Choice><w:drawing><wps:txbx>{box}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    assert read(paragraph(run("Before."), drawn), paragraph(run("After."))) == ["Before.", "In the box.", "After."]


@pytest.mark.parametrize(
    ("before", "raised", "shown"),
    [
        ("in 10", "9", "in 10^9"), ("10", "-8", "10^-8"), ("2", "7", "2^7"), ("adults", "3", "adults[3]"),
        ("fell.", "1,2", "fell.[1,2]"), ("fell (7%)", "4–6 ", "fell (7%)[4–6] "), ("in 2010", "12", "in 2010[12]"),
        ("kg/m", "2", "kg/m2"), ("Ca", "2+", "Ca2+"), ("CD4", "+", "CD4+"), ("", "18", "18"), ("the 2", "nd", "the 2nd"),
        ("women", "a", "women^a"), ("fell", "[3]", "fell[3]"), ("I", "2", "I2"), ("min", "−1", "min−1"),
    ],
)  # fmt: skip
def test_a_superscript_is_an_exponent_a_reference_or_itself(before: str, raised: str, shown: str) -> None:
    assert before + write_raised(before, raised) == shown


@pytest.mark.parametrize(
    ("part", "told"),
    [("xl/workbook.xml", "an Excel file; save the sheet as CSV"), ("content.xml", "an OpenDocument file; save it as .docx")],
)
def test_other_files_of_an_office_are_named(part: str, told: str) -> None:
    with pytest.raises(BadInput, match=rf"^a\.docx is {told}\.$"):
        read_docx(word("", main=part), "a.docx")


def test_entities_are_left_alone() -> None:
    prolog = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd"><!ENTITY f "ffffff">]>'
    body = paragraph("<w:r><w:t>Tea helps.</w:t></w:r>", "<w:r><w:t>&e;</w:t></w:r>", "<w:r><w:t>&f;</w:t></w:r>")
    assert read_docx(word(body, prolog=prolog), "a.docx").text == "Tea helps."
