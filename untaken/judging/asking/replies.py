"""Replies of language models, kept under the hash of their question: asked once, read ever after."""

from __future__ import annotations

import os
from pathlib import Path
from secrets import token_hex
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

import msgspec

from untaken import limits
from untaken.errors import UntakenError, Where, bare_addresses
from untaken.ledger import JsonFault, parse_json

SALT_FILE: Final = "salt"
SECRET: Final = ("KEY", "TOKEN", "SECRET", "PASSWORD")
"""Endings of environment variables whose values are in no message and in no kept reply."""
SECRET_CHARS: Final = 6
"""Shorter values stay: they would be cut out of plain words, too."""
REPLY_BYTES: Final = 4 * limits.MIB


_in_addresses: Final[set[str]] = set()
"""Passwords, and values of queries, of the addresses that models have in this process."""


def public_name(model: str) -> str:
    """How a model is called in verdicts and replies: an address without its user, password and query.

    From now on `without_keys` knows what was in these.
    """
    if "://" not in model:
        return model
    address, mark, name = model.partition("#")
    head, _, query = address.partition("?")
    user, at, _ = head.partition("://")[2].partition("/")[0].rpartition("@")
    given = [value for _, value in parse_qsl(query)] + [unquote(part) for part in user.split(":")[1:] if at]
    _in_addresses.update(value for value in given if len(value) >= SECRET_CHARS)
    return bare_addresses(address) + mark + name


def without_keys(text: str) -> str:
    """The text without any key that a server may have sent back."""
    for value in _in_addresses:
        text = text.replace(value, "…")
    for name, value in os.environ.items():
        if name.upper().endswith(SECRET) and len(value) >= SECRET_CHARS:
            text = text.replace(value, "…")
    return text


class ToolUse(msgspec.Struct, frozen=True, kw_only=True):
    """One call of a tool, with the hash of what it returned."""

    tool: str
    arguments: str
    result_sha256: str


class Reply(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=False):
    """One reply as it is stored: nothing in it depends on when it was given.

    Attributes:
        model, template, version, prompt_sha256, seed: what was asked, of whom.
        output: the answer in the form asked for; ``None`` where there was none.
        failure: why there was none; empty where there is.
        raw: the model's last words, as they came.
        calls: tools that were called on the way.
        requests, input_tokens, output_tokens: what it cost.
    """

    model: str
    template: str
    version: int
    prompt_sha256: str
    seed: int
    output: Any
    raw: str
    failure: str = ""
    calls: tuple[ToolUse, ...] = ()
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0


class ReplyStore:
    """A folder of replies, one small file each; safe to share between processes.

    The same question gives the same bytes, so the folder can be kept under version control and shared: with
    it, anyone gets the same verdicts without a model and without a key.
    """

    def __init__(self, folder: str | Path) -> None:
        """A store at `folder`, which is made when something is first kept."""
        self.folder = Path(folder)

    @property
    def salt(self) -> str:
        """A secret of this store, made once: who wrote a ledger cannot guess what is derived from it."""
        file = self.folder / SALT_FILE
        if not file.exists():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self._draft(file, token_hex(16).encode())
            try:
                file.hardlink_to(fresh)  # of two processes the first wins, and neither reads half a salt
            except FileExistsError:
                pass
            finally:
                fresh.unlink()
        return file.read_text("ascii").strip()

    def get(self, key: str) -> Reply | None:
        """The reply kept under `key`, or ``None``.

        Raises:
            UntakenError: ``reply-malformed`` where the file was changed by hand.
        """
        file = self._file(key)
        try:
            with file.open("rb") as stream:
                data = stream.read(REPLY_BYTES + 1)
        except FileNotFoundError:
            return None
        try:
            if len(data) > REPLY_BYTES:
                raise JsonFault("too-large", f"it is longer than {REPLY_BYTES:,} bytes")
            return msgspec.convert(parse_json(data), Reply)
        except (JsonFault, msgspec.MsgspecError) as error:
            raise UntakenError(
                "reply-malformed",
                f"not a reply: {error}",
                where=Where(file=str(file)),
                hint="Delete the file to ask the question again.",
            ) from error

    def put(self, key: str, reply: Reply) -> None:
        """Keep a reply; whole or not at all."""
        file = self._file(key)
        file.parent.mkdir(parents=True, exist_ok=True)
        encoded = msgspec.json.format(msgspec.json.encode(reply, order="sorted"), indent=1)
        kept = without_keys(encoded.decode()).encode()
        self._draft(file, kept + b"\n").replace(file)

    def __len__(self) -> int:
        return sum(1 for _ in self.folder.glob("??/*.json"))

    def _file(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"  # 256 folders, since one of very many files is slow

    @staticmethod
    def _draft(file: Path, data: bytes) -> Path:
        fresh = file.with_name(f".{file.name}.{token_hex(8)}.tmp")
        with open(fresh, "wb", opener=_private) as stream:
            stream.write(data)
        return fresh


def _private(path: str, flags: int) -> int:
    """A salt is a secret, and a reply may quote what is confidential."""
    return os.open(path, flags, 0o600)
