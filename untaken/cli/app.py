"""``untaken app``: serve the app on this machine."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from untaken.app_folder import app_folder
from untaken.cli.console import Console
from untaken.cli.grammar import Verbs
from untaken.cli.inputs import UsageError
from untaken.cli.verbs import VERBS

LOOPBACK: Final = "127.0.0.1"
DEFAULT_PORT: Final = 8501
PORTS_TRIED: Final = 100
TEMPORARY: Final = "UNTAKEN_TEMPORARY"
"""Names the folder that the server removes when it ends."""
NEEDED: Final = ("streamlit", "plotly", "pyvis", "pygraphviz")
"""What the extra ``app`` installs."""


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    does = VERBS["app"]
    parser = verbs.add_parser("app", help=does, description=f"{does.capitalize()}.")
    parser.add_argument(
        "workspace", nargs="?", metavar="FOLDER", help="workspace folder (default: untaken-workspace)"
    )
    parser.add_argument("--demo", action="store_true", help="start with the sample runs")
    parser.add_argument(
        "--port", type=int, default=DEFAULT_PORT, help="default 8501; if it is in use, the next free port"
    )
    parser.set_defaults(run=serve)


def serve(args: argparse.Namespace, console: Console) -> int:
    """Starts Streamlit on loopback and waits for it; its exit code is ours."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            "app-extra-missing",
            f"the app needs {', '.join(missing)}, which is not installed",
            hint="pip install 'untaken[app]'",
        )
    app = app_folder() / "server.py"
    port = free_port(args.port)
    environment = os.environ | _settings(args)
    removed = "  (removed when the app ends)" if environment.get(TEMPORARY) else ""
    console.say(f"Workspace: {environment['UNTAKEN_WORKSPACE']}{removed}")
    console.say(f"Untaken is at http://{LOOPBACK}:{port}  (stop it with Ctrl+C)")
    console.out.flush()
    options = ["--server.address", LOOPBACK, "--server.port", str(port), "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *options]
    if os.name == "posix":  # become the server, so that whoever stops us stops it
        os.chdir(app.parent)
        os.execve(sys.executable, command, environment)  # noqa: S606 - fixed words
    return subprocess.call(command, env=environment, cwd=app.parent)  # noqa: S603 - fixed words


def _settings(args: argparse.Namespace) -> dict[str, str]:
    settings = {
        "STREAMLIT_BROWSER_GATHER_USAGE_STATS": "false",
        "STREAMLIT_CLIENT_DISABLE_DATA_EXPORT": "true",  # Streamlit's own CSV has formulas in it
        "STREAMLIT_RUNNER_FAST_RERUNS": "false",  # else a click starts a second script on the same state
    }
    folder = args.workspace
    if args.demo and not folder:  # a demonstration is kept apart from the workspace in use
        folder = settings[TEMPORARY] = tempfile.mkdtemp(prefix="untaken-demo-")
    folder = folder or os.environ.get("UNTAKEN_WORKSPACE") or "untaken-workspace"
    settings["UNTAKEN_WORKSPACE"] = str(Path(folder).resolve())  # we serve from elsewhere
    if args.demo:
        settings["UNTAKEN_DEMO"] = "1"
        settings["UNTAKEN_STORE"] = ""  # a demonstration is no part of a team's database
    return settings


def free_port(first: int) -> int:
    """`first`, or the next port that nobody listens on."""
    for port in range(first, first + PORTS_TRIED):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((LOOPBACK, port))
            except (OSError, OverflowError):
                continue
            return int(probe.getsockname()[1])
    raise UsageError("no-free-port", f"no free port from {first} on", hint="Choose another port with --port.")
