"""``--packet N``: one finding of a verb as work to hand over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from untaken.answers.packets import PacketDocument, nth, packet_markdown
from untaken.cli.console import Console
from untaken.corpus import Corpus

Item = TypeVar("Item")


def print_packet(
    make: Callable[[Corpus, Item], PacketDocument],
    corpus: Corpus,
    items: Sequence[Item],
    number: int,
    console: Console,
) -> int:
    """Prints the packet of the item with this number.

    Raises:
        UntakenError: ``packet-unknown``.
    """
    packet = make(corpus, items[nth(items, number)])
    if not console.json:
        console.write(packet_markdown(packet))
    console.document(packet)
    return 0
