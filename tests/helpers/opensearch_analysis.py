"""OpenSearch's analysis settings, carried out by the Lucene classes that OpenSearch carries them out with."""

from __future__ import annotations

from typing import Any

from counterpoint.retrieval.bm25.lucene import load_java_class
from counterpoint.retrieval.core.characters import unify_characters

_FILTERS = {
    "lowercase": "core.LowerCaseFilter",
    "asciifolding": "miscellaneous.ASCIIFoldingFilter",
    "porter_stem": "en.PorterStemFilter",
}
_ANALYSIS = "org.apache.lucene.analysis"


def analyse_as_opensearch(analysis: dict[str, Any], name: str, text: str) -> list[str]:
    """The terms of a text; raises `KeyError` for what OpenSearch would not know."""
    about = analysis["analyzer"][name]
    assert (about["type"], about["tokenizer"]) == ("custom", "standard")
    reader = load_java_class("java.io.StringReader")(unify_characters(text))
    for one in about.get("char_filter", []):
        reader = _filter_characters(analysis["char_filter"][one], reader)
    stream = load_java_class(f"{_ANALYSIS}.standard.StandardTokenizer")()
    stream.setReader(reader)
    for one in about["filter"]:
        if one in _FILTERS:
            stream = load_java_class(f"{_ANALYSIS}.{_FILTERS[one]}")(stream)
        else:
            assert analysis["filter"][one] == {"type": "stemmer", "language": "possessive_english"}
            stream = load_java_class(f"{_ANALYSIS}.en.EnglishPossessiveFilter")(stream)
    return _read_terms(stream)


def _filter_characters(about: dict[str, Any], reader: Any) -> Any:
    if about["type"] == "pattern_replace":
        pattern = load_java_class("java.util.regex.Pattern").compile(about["pattern"])
        return load_java_class(f"{_ANALYSIS}.pattern.PatternReplaceCharFilter")(pattern, about["replacement"], reader)
    assert about["type"] == "mapping"
    builder = load_java_class(f"{_ANALYSIS}.charfilter.NormalizeCharMap$Builder")()
    for rule in about["mappings"]:
        # "(.*)\\s*=>\\s*(.*)\\s*$", and then the escapes.
        old, new = (side.strip().encode("ascii").decode("unicode_escape") for side in rule.split("=>"))
        builder.add(old, new)
    return load_java_class(f"{_ANALYSIS}.charfilter.MappingCharFilter")(builder.build(), reader)


def _read_terms(stream: Any) -> list[str]:
    terms = []
    stream.reset()
    while stream.incrementToken():
        terms.append(str(stream.reflectAsString(False)).split("term=", 1)[1].split(",bytes=")[0])
    stream.end()
    stream.close()
    return terms
