"""Finding a port for the app."""

from __future__ import annotations

import socket

from untaken.cli.serving import LOOPBACK, free_port


def test_a_port_that_is_taken_is_passed_over() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = free_port(port)
        assert port < found < port + 100


def test_a_free_port_is_kept() -> None:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port = probe.getsockname()[1]
    assert free_port(port) == port
