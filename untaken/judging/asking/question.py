"""A question to a language model: a versioned template, a prompt, and the form that an answer must have."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from importlib.resources.abc import Traversable
from typing import Any, Final, Generic, TypeVar

import msgspec
import rfc8785

from untaken.errors import Unscored
from untaken.judging.asking.replies import Reply

T = TypeVar("T", bound=msgspec.Struct)

REQUESTS: Final = 16
"""Most requests for one question, tool calls and retries included."""
LOCAL: Final = "local"
"""Names the packaged model."""
KEY_SETTING: Final = "UNTAKEN_MODEL_KEY"
"""Environment variable with the key for a model named by its address."""
REPLY_TOKENS: Final = (1_024, 8_192)
"""Every reply may have the first number of tokens; no reply has more than the second."""
NUMBER_CHARS: Final = 18

_HEAD: Final = re.compile(r"\A<!-- version: ([1-9][0-9]*) -->\n")


class Template(msgspec.Struct, frozen=True, kw_only=True):
    """Standing instructions, versioned: another wording is another version.

    Attributes:
        name: file name without its ending.
        version: from the file's first line.
        text: the instructions themselves.
    """

    name: str
    version: int
    text: str


def read_template(file: Traversable) -> Template:
    """The template in a Markdown file that begins with ``<!-- version: N -->``.

    Raises:
        ValueError: where the file does not say its version.
    """
    text = file.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None:
        raise ValueError(f"{file.name} does not start with its version")
    body = text[head.end() :].strip()
    return Template(name=file.name.removesuffix(".md"), version=int(head[1]), text=body)


class Tool(msgspec.Struct, frozen=True, kw_only=True):
    """Something the model may call while it looks for the answer: it reads, and changes nothing.

    Attributes:
        call: takes plain typed arguments and returns text of bounded length.
    """

    name: str
    description: str
    call: Callable[..., str]


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """What is asked, in full: two equal questions to one model have one answer.

    Attributes:
        template: standing instructions.
        prompt: the question itself; the caller must envelope untrusted text in it.
        output: the form of an answer, a msgspec Struct. Every text and list in it should be bounded
            (``Annotated[str, Meta(max_length=…)]``): small models fill what is not.
        seed: another seed is another question.
        temperature: 0 for the model's one best answer.
        tools: may be called before answering; `about` then names what they read (a digest).
    """

    template: Template
    prompt: str
    output: type[T]
    seed: int = 0
    temperature: float = 0.0
    tools: tuple[Tool, ...] = ()
    about: str = ""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of an answer."""
        (root,), parts = msgspec.json.schema_components([self.output], ref_template="#/$defs/{name}")
        name = root["$ref"].removeprefix("#/$defs/")
        whole = dict(parts.pop(name))  # servers want an object at the root, not a reference to one
        return whole | ({"$defs": parts} if parts else {})

    @cached_property
    def max_tokens(self) -> int:
        """Room for the longest answer in this form: a token for each character, and a quarter for spaces."""
        least, most = REPLY_TOKENS
        return min(max(least, longest_text(self.schema) * 5 // 4), most)

    @property
    def prompt_sha256(self) -> str:
        """Hash of everything sent to the model: instructions and prompt."""
        return sha256(f"{self.template.text}\n\0\n{self.prompt}".encode("utf-8", "surrogatepass")).hexdigest()

    def key(self, model: str) -> str:
        """Content address of the answer that `model` gives."""
        identity: Any = {
            "model": model,
            "template": [self.template.name, self.template.version],
            "prompt": self.prompt_sha256,
            "schema": self.schema,
            "settings": [self.seed, self.temperature, self.max_tokens],
            "tools": [tool.name for tool in self.tools],  # what they read is in `about`
            "about": self.about,
        }
        return sha256(rfc8785.dumps(identity)).hexdigest()


def longest_text(schema: Mapping[str, Any], parts: Mapping[str, Any] | None = None) -> int:
    """Characters of the longest JSON text that fits a schema, without white space."""
    parts = schema.get("$defs", {}) if parts is None else parts
    if "$ref" in schema:
        return longest_text(parts[schema["$ref"].rsplit("/", 1)[-1]], parts)
    if "enum" in schema:
        return max(len(json.dumps(value)) for value in schema["enum"])
    if "anyOf" in schema:
        return max(longest_text(option, parts) for option in schema["anyOf"])
    if schema.get("type") == "array":
        return 2 + int(schema.get("maxItems", 0)) * (longest_text(schema["items"], parts) + 1)
    if schema.get("type") == "object":
        fields = schema.get("properties", {}).items()
        # Quotes, colon, comma.
        return 2 + sum(len(key) + 4 + longest_text(part, parts) for key, part in fields)
    return 2 + int(schema.get("maxLength", NUMBER_CHARS))


class Unreached(Unscored, frozen=True):
    """No reply: the model could not be reached. After several in a row no more questions are asked."""


class ModelAnswer(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """What the model answered, with the record of how it came to it."""

    output: T
    reply: Reply
    from_store: bool
