"""LaTeX, as BibTeX files hold it, as plain text: a command becomes the character that it stands for, and no text is lost."""

from __future__ import annotations

import logging
import re
from functools import cache
from typing import TYPE_CHECKING, Any

from indexes.readers.base.raised import write_raised

if TYPE_CHECKING:
    from pylatexenc.latex2text import LatexNodes2Text

SIGNS = {
    "textbackslash": "\\", "textbraceleft": "{", "textbraceright": "}", "textless": "<", "textgreater": ">",
    "textasciicircum": "^", "textasciitilde": "~", "textasciigrave": "`",
}  # fmt: skip
"""Characters with a meaning in LaTeX, by the commands that Zotero and our own export write for them."""
# Commands for signs that pylatexenc does not know either.
_OTHER_SIGNS = {"textbar": "|", "textquotesingle": "'", "textquotedbl": '"', "textdollar": "$", "lt": "<", "gt": ">"}
_MARKUP = re.compile(r"[\\{}~$]|--|``|''")
_PERCENT = re.compile(r"(?<!\\)((?:\\\\)*)%")
# Pandoc's rule: a formula has no blank inside its dollar signs, and no digit after them. Others are amounts of money.
_FORMULA_OR_DOLLAR = re.compile(r"(?<!\\)(?:(\$(?![\s$])(?:[^$\\]|\\.)*(?<!\s)\$(?![0-9]))|\$)", re.DOTALL)
_COMMAND = re.compile(r"\\(?:(?:begin|end)\s*\{[^{}]*\}|[A-Za-z]+\*?|.)", re.DOTALL)


def decode_latex(value: str) -> tuple[str, bool]:
    """`value` as plain text on one line, and whether that holds all its letters and digits; where it would not, `value` is kept.

    A bare percent sign is kept, though LaTeX would drop what follows it; so is a dollar sign that bounds no formula.
    """
    line = " ".join(value.split())
    if not _MARKUP.search(line):
        return line, True
    latex = _FORMULA_OR_DOLLAR.sub(lambda match: match[1] or r"\$", _PERCENT.sub(r"\1\\%", value))
    try:
        text = " ".join(_converter().latex_to_text(latex).split())
    except Exception:
        # pylatexenc raises errors of many types about a command without its arguments or groups nested too deeply.
        return line, False
    if _count(text) < _count(_COMMAND.sub("", latex)):
        return line, False
    return text, True


def _count(text: str) -> int:
    return sum(map(str.isalnum, text))


@cache
def _converter() -> LatexNodes2Text:
    from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

    # It warns on its own of what `decode_latex` finds and reports.
    logging.getLogger("pylatexenc").setLevel(logging.CRITICAL)
    known = get_default_latex_context_db()
    signs = [MacroTextSpec(name, simplify_repl=sign) for name, sign in (SIGNS | _OTHER_SIGNS).items()]
    known.add_context_category("signs", macros=signs, prepend=True)
    known.set_unknown_macro_spec(MacroTextSpec("", simplify_repl=_keep_unknown))
    return LatexNodes2Text(latex_context=known, math_mode="text", keep_comments=True, strict_latex_spaces=True)


def _keep_unknown(node: Any) -> str:
    """An unknown command as it stands; before a group it is one of layout, as in `\\ce{H2O}`, and only the group is text."""
    text = node.parsing_state.s
    rest = text[node.pos + node.len :]
    if node.macroname == "textsuperscript" and write_raised(text[: node.pos], rest.lstrip("{ ")).startswith("^"):
        return "^"
    return "" if rest.startswith("{") and not rest.startswith("{}") else node.latex_verbatim()
