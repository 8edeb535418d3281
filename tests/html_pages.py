"""A page of HTML as a browser takes it: elements, attributes, words."""

from __future__ import annotations

from html.parser import HTMLParser

SCRIPTED = {
    "script",
    "iframe",
    "object",
    "embed",
    "link",
    "base",
    "img",
    "form",
    "input",
    "a",
    "use",
    "image",
}
"""Elements that fetch, run or lead somewhere; the report has none of them."""
VOID = {"meta", "br", "hr"}


class Parsed(HTMLParser):
    """Elements with their attributes, and the words of a page, as a browser finds them."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.unclosed: list[str] = []
        self.words = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.unclosed.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data

    def shapes(self) -> set[tuple[str, frozenset[str]]]:
        """Every element with the names of its attributes."""
        return {(tag, frozenset(attributes)) for tag, attributes in self.elements}
