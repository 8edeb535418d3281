"""Untrusted text on its way into a prompt, between marks that it cannot end."""

from __future__ import annotations

import hmac
from hashlib import sha256
from typing import Final

OPEN: Final = "⟦"
CLOSE: Final = "⟧"
_NEUTRAL: Final = str.maketrans({OPEN: "[", CLOSE: "]"})
NONCE_CHARS: Final = 16


def nonce_for(salt: str, *parts: str) -> str:
    """The code of one question: the same for the same question and store, unknown to who wrote the record."""
    # With lengths, so that text moved from one part to the next gives another code.
    named = "\0".join(f"{len(part)}:{part}" for part in parts)
    return hmac.new(salt.encode(), named.encode("utf-8", "surrogatepass"), sha256).hexdigest()[:NONCE_CHARS]


def neutral(text: str) -> str:
    """The text without anything that could end its envelope or steer a terminal or a tokenizer."""
    # Marks of chat templates, which a tokenizer may read as the end of a turn.
    plain = text.translate(_NEUTRAL).replace("<|", "< |").replace("|>", "| >")
    return "".join(c if c in "\n\t" or c.isprintable() else " " if c.isspace() else "�" for c in plain)


def enveloped(text: str, nonce: str, label: str = "") -> str:
    """The text between marks that carry the code."""
    name = f" {label}" if label else ""
    return f"{OPEN}record {nonce}{name}{CLOSE}\n{neutral(text)}\n{OPEN}end {nonce}{CLOSE}"
