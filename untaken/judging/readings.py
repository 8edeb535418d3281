"""The ways in which a model might read a text: disguises taken off, slips put right, hidden texts decoded."""

from __future__ import annotations

import base64
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from untaken.visible import CONTROL, INVISIBLE

PIECE: Final = 8_000
REACH: Final = 1_000
"""Characters over which a text to a judge may spread, its disguise included."""

_PAIRS: Final = (
    ("авсԁеғԍһнијкӏмпорԛгѕтуѵԝхүзіь", "abcdefghhijklmnopqrstyvwxyzib"),
    ("αβϲδεγηικλμνορστυχωζφ", "abcdeynikluvopotuxwzf"),
    ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnopqrstuvwyz"),
    ("օոսցհıɑɡɩłøđħƅʋ", "onughiagilodhbv"),
)
_LOOKALIKES: Final = (
    {ord(shown): letter for pair in _PAIRS for shown, letter in zip(*pair, strict=True)}
    | {0x1F1E6 + i: chr(97 + i) for i in range(26)}  # flags
    | {first + i: chr(97 + i) for first in (0x1F150, 0x1F170) for i in range(26)}  # boxes
)
_UNSEEN: Final = re.compile(f"[{INVISIBLE}{CONTROL}]+")
_BLANKS: Final = re.compile(r"\s{2,}|[^\S \n]")
_LOWER: Final = str.maketrans("", "", "abcdefghijklmnopqrstuvwxyz")
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,5})\}|x([0-9a-fA-F]{2})|([nrt]))")
_LEET: Final = str.maketrans("013457@$", "oieastas")
_LEET_CHAR: Final = re.compile("[013457@$]")
_LEET_WORD: Final = re.compile(
    r"(?<![a-z0-9@$])(?:[a-z]++[013457@$]|[013457@$]++[a-z])[a-z013457@$]++(?![a-z0-9])", re.IGNORECASE
)
_SPACED: Final = re.compile(r"(?<!\w)\w(?:[\W_]{1,6}\w(?![^\W_])){3,}")
_APART: Final = re.compile(r"[\W_]+")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{20,}")
_BASE32: Final = re.compile(r"[A-Z2-7]{24,}|[a-z2-7]{24,}")
_HEX: Final = re.compile(r"[0-9a-fA-F]{2}(?:(?:[ :]|,? ?0x)?[0-9a-fA-F]{2}){15,}")
_CODES: Final = re.compile(r"(?<!\d)\d{2,3}(?!\d)(?:\D{1,8}\d{2,3}(?!\d)){7,}+")
_OCTAL: Final = re.compile(r"(?:\\[0-7]{3}){6,}+")
_BASE85: Final = re.compile(r"(?:[A-Za-e][!#-&(-+0-9;-Z^-~-]{4}){4,}+(?:[A-Za-e][!#-&(-+0-9;-Z^-~-]{0,3})?")
"""ASCII in base85: the first of five characters stays below the middle of the alphabet."""
_ASCII85: Final = re.compile(r"(?:[+-I][!-u]{4}){4,}+(?:[+-I][!-u]{0,3})?")
_QUOTED: Final = re.compile(r"=(?:[ \t\r]*\n|([2-7][0-9a-fA-F]))")
_BETWEEN: Final = re.compile(r"[\s\"'`,.;:|>*\\=]+")
_LONG: Final = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{60,}+")
_URL_SAFE: Final = str.maketrans("-_", "+/")
_PRINTED: Final = bytes(code if 0x20 <= code <= 0x7E else 0x20 for code in range(256))
_UNPRINTABLE: Final = bytes(code for code in range(256) if not 0x20 <= code <= 0x7E)
_WORDS: Final = re.compile(rb"[A-Za-z][ -~]{9,}")
_NO_LETTERS: Final = bytes(code for code in range(256) if not 97 <= code <= 122)
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]+")
_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{6,}")


_SPEAKING: Final = (
    *("judge", "evaluat", "grade", "instruct", "ignore", "verdict", "criteri", "passed", "reply", "answer"),
)
"""Beginnings of words by which reversed or rotated text is noticed: no language has them that way round."""
_REVERSED: Final = tuple(word[::-1] for word in _SPEAKING)
_ROTATED: Final = tuple(codecs.encode(word, "rot13") for word in _SPEAKING)


def pieces(text: str) -> Iterator[str]:
    """The text in parts that overlap by `REACH`: what is shorter is whole in one of them."""
    for at in range(0, max(1, len(text) - REACH), PIECE - REACH):
        yield text[at : at + PIECE]


def readings(text: str) -> Iterator[str]:
    """The text with single blanks; as it looks; with letters of digits; joined; turned; what it hides."""
    text = _LONG.sub(_unless_image, text)  # an image in base64 is no text: it would only cost time
    yield _blanks(text if text.isascii() else unicodedata.normalize("NFC", text))  # patterns are composed
    plain = as_seen(text)
    if plain != text:
        yield _blanks(plain)
    if _LEET_CHAR.search(plain) and _LEET_WORD.search(plain):
        yield _blanks(plain.translate(_LEET))
    if "=" in plain and (unquoted := _QUOTED.sub(_unquoted, plain)) != plain:
        yield _blanks(unquoted)
    joined = _SPACED.sub(_word, plain)
    if joined != plain:
        yield _blanks(joined)
    lowered = plain.lower()
    if (spelt := corrected(lowered)) != lowered:
        yield _blanks(spelt)
    # Only where it shows: each reading costs as much as the text, and is searched for all phrases.
    if any(word in lowered for word in _REVERSED):
        yield _blanks(plain[::-1])
    if any(word in lowered for word in _ROTATED):
        yield _blanks(codecs.encode(plain, "rot13"))
    yield from _hidden(text)
    yield from _encoded(plain, text)


def squeezed(text: str) -> str:
    """Nothing but the letters of a reading in lower case."""
    return text.encode("ascii", "ignore").translate(None, _NO_LETTERS).decode("ascii")


def _blanks(text: str) -> str:
    return _BLANKS.sub(lambda run: "\n" if "\n" in run[0] else " ", text)


def as_seen(text: str) -> str:
    """Entities and escapes decoded, marks and invisible characters removed, look-alikes put right."""
    for _ in range(3):  # an entity may hold the beginning of another
        decoded = html.unescape(text) if "&" in text else text
        decoded = _ESCAPE.sub(_escaped, decoded) if "\\" in decoded else decoded
        decoded = unquote(decoded, errors="replace") if "%" in decoded else decoded
        if decoded == text:
            break
        text = decoded
    if text.isascii():
        return _UNSEEN.sub("", text)
    # Letters of any width or style become plain ones, and accents become marks that can be left out.
    apart = unicodedata.normalize("NFKD", _UNSEEN.sub("", text))
    letters = "".join(c for c in apart if not unicodedata.combining(c) and unicodedata.category(c) != "Me")
    return letters.lower().translate(_LOOKALIKES)


def _escaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    return chr(int(code, 16)) if code else " "


def _unquoted(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else ""


def _word(spaced: re.Match[str]) -> str:
    """Letters separated like words; a gap wider than the first one separates two words."""
    text = spaced[0]
    first = _APART.search(text)
    gap = len(first[0]) if first else 1
    return _APART.sub(lambda between: "" if len(between[0]) <= gap else " ", text)


def _unless_image(run: re.Match[str]) -> str:
    """Long base64 as it is where it hides text or spells a word; else the few words that are in it."""
    chunk = run[0]
    lowered = chunk.lower()
    if any(word in lowered for word in _SPEAKING) or _HEX.search(chunk) or _BASE32.search(chunk):
        return chunk
    decoded = [_base64(chunk[offset:]) for offset in range(4)]
    if any(map(_is_text, decoded)):
        return chunk
    return f" {b' '.join(map(_printed, decoded)).decode('ascii')} "


def _hidden(text: str) -> Iterator[str]:
    """ASCII in tag characters, and bytes in variation selectors."""
    if text.isascii():
        return
    for run in _TAGS.finditer(text):
        yield _blanks("".join(chr(ord(c) - 0xE0000) for c in run[0]))
    for run in _SELECTORS.finditer(text):
        codes = [ord(c) for c in run[0]]
        hidden = bytes(code - 0xFE00 if code < 0xE0100 else code - 0xE0100 + 16 for code in codes)
        yield _blanks(hidden.decode("utf-8", "replace"))


def _encoded(text: str, raw: str, times: int = 2) -> Iterator[str]:
    """What base64, base32, base85 and hexadecimal digits in the text say, at each place where they may begin.

    What they say may be encoded once more. Whatever was put between the characters of base64 is left out,
    too. Of an image next to nothing is left.
    """
    chunks = [run[0] for run in _BASE64.finditer(text)]
    joined = (run[0] for run in _BASE64.finditer(_BETWEEN.sub("", text)))
    chunks += [chunk for chunk in joined if 4 * len(chunk.translate(_LOWER)) > len(chunk)]  # no plain words
    found = [_base64(chunk[offset:]) for chunk in dict.fromkeys(chunks) for offset in range(4)]
    found += [_base32(run[0].upper()[offset:]) for run in _BASE32.finditer(text) for offset in range(8)]
    for run in _HEX.finditer(text):
        digits = _BETWEEN.sub("", run[0].replace("0x", ""))
        found += [bytes.fromhex(digits), bytes.fromhex(digits[1:-1])]  # the first digit may not belong to it
    found += _base85("".join(raw.split()))  # entities and escapes in it are none
    found += [bytes(codes) for codes in _code_points(text) if all(0x20 <= code <= 0x7E for code in codes)]
    if found:
        found_text = b" ".join(b"\n".join(map(_printed, found)).split()).decode("ascii")
        yield found_text
        if times > 1:
            yield from _encoded(found_text, found_text, times - 1)


def _code_points(text: str) -> Iterator[list[int]]:
    """Numbers of letters, as `chr` and `printf` take them."""
    for run in _CODES.finditer(text):
        yield [int(code) for code in re.findall(r"\d+", run[0])]
    for run in _OCTAL.finditer(text):
        yield [int(code, 8) for code in run[0].split("\\")[1:]]


def _printed(data: bytes) -> bytes:
    """The text in some bytes: of an image, or of text read from the wrong place, no more than a few words."""
    data = data.replace(b"\0", b"")  # PowerShell encodes commands of two bytes a letter
    return data.translate(_PRINTED) if _is_text(data) else b" ".join(_WORDS.findall(data))


def _is_text(data: bytes) -> bool:
    return 4 * len(data.translate(None, _UNPRINTABLE)) >= 3 * len(data)


def _base64(chunk: str) -> bytes:
    whole = chunk[:-1] if len(chunk) % 4 == 1 else chunk
    return base64.b64decode(whole.translate(_URL_SAFE) + "=" * (-len(whole) % 4))


def _base85(text: str) -> Iterator[bytes]:
    """Of plain words that look like it, too; they decode to bytes that are no text."""
    for chunk in _BASE85.finditer(text):
        yield base64.b85decode(chunk[0])
    for chunk in _ASCII85.finditer(text):
        yield base64.a85decode(chunk[0])


def _base32(chunk: str) -> bytes:
    return base64.b32decode(chunk[: len(chunk) // 8 * 8])


_KEYS: Final = (
    *("ignore", "disregard", "forget", "override", "bypass"),
    *("instruction", "instructions", "guideline", "guidelines", "evaluator", "verdict"),
)
_OTHERS: Final = frozenset(
    (
        *("ignored", "ignores", "forgot", "forgets", "forged", "forger", "forges", "overrides", "overrode"),
        *("overridden", "instructing", "instructors", "instructor", "instructional", "construction"),
        *("destruction", "obstruction", "evaluators", "evaluated", "evaluates", "evaluate", "verdicts"),
        *("evaluation", "evaluations", "overwrite", "overwrites", "overwritten"),
    )
)
"""Words of their own that are spelt nearly so."""
_SPELT: Final = re.compile(r"[a-z]{5,14}")
_BY_LENGTH: Final = {
    length: [(key, frozenset(key)) for key in _KEYS if abs(len(key) - length) <= _most]
    for length in range(5, 15)
    for _most in [2 if length > 8 else 1]
}


def corrected(text: str) -> str:
    """A text in lower case with misspelt `_KEYS` spelt right; the same text where there are none."""
    meant = {word: key for word in set(_SPELT.findall(text)) if (key := _meant(word))}
    return _SPELT.sub(lambda word: meant.get(word[0], word[0]), text) if meant else text


@lru_cache(maxsize=16_384)
def _meant(word: str) -> str | None:
    """The key that differs by one slip, by two where it is long; ``None`` where the word is right."""
    if word in _KEYS or word in _OTHERS:
        return None
    most = 2 if len(word) > 8 else 1
    letters = set(word)
    near = (
        key
        for key, needed in _BY_LENGTH[len(word)]
        # The cheap conditions first: few words get as far as the distance.
        if key[0] in word[:2] and len(needed & letters) >= len(needed) - most and _apart(word, key) <= most
    )
    return next(near, None)


def _apart(a: str, b: str) -> int:
    """Letters left out, added, replaced or swapped with the next one (optimal string alignment)."""
    before: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        now = [i]
        for j, y in enumerate(b, start=1):
            cost = min(last[j] + 1, now[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before[j - 2] + 1)
            now.append(cost)
        before, last = last, now
    return last[-1]
