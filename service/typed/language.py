"""Which language a text is in, if not English; by py3langid, whose model comes with its package.

Of 6,268 English claims, questions and titles, 3 are taken for another language; of 72 claims in 25 other languages, 68 are
recognised (docs/measurements.md; tests/service/typed).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek",
    "en": "English", "es": "Spanish", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "nl": "Dutch",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian",
    "sr": "Serbian", "sv": "Swedish", "th": "Thai", "tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}  # fmt: skip
"""The languages considered: few enough that Latin names do not make English look like a language that nobody writes here."""
_SURE, _SURE_OF_FEWEST = 0.5, 0.8
"""The smallest probability that is trusted; the second is for up to three words: English mixed with Latin may look French."""
_FEWEST_WORDS = 3
_MOST_READ = 2000
_WORD = re.compile(r"[^\W\d_]{2,}")
_OTHER_SCRIPT = re.compile(r"[^\W\d_\u0000-\u024f\u0370-\u03ff\u1e00-\u1eff]")
"""Letters that are neither Latin nor Greek; Greek letters occur in English claims."""


def find_language(text: str) -> str:
    """The English name of the other language that a text is in; "" for English and for what is too short to tell."""
    words = _WORD.findall(text)
    if len(words) < _FEWEST_WORDS and not _OTHER_SCRIPT.search(text):
        return ""
    code, share = _load().classify(text[:_MOST_READ])
    least = _SURE_OF_FEWEST if len(words) <= _FEWEST_WORDS else _SURE
    return "" if code == "en" or float(share) < least else LANGUAGES[str(code)]


@cache
def _load() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(list(LANGUAGES))
    return identifier
