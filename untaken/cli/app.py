"""``untaken app``: serve the app on this machine."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
import tomllib
from contextlib import suppress
from importlib.util import find_spec
from ipaddress import ip_address
from pathlib import Path
from typing import Final

from untaken.app_folder import REQUIRED, SIGN_IN, TEMPORARY, app_folder, is_loopback
from untaken.cli.console import Console
from untaken.cli.grammar import UsageError, Verbs, verb
from untaken.extras import HINTS

LOOPBACK: Final = "127.0.0.1"
HOSTS: Final = "STREAMLIT_SERVER_ALLOWED_HOSTS"
DEFAULT_PORT: Final = 8501
PORTS_TRIED: Final = 100
LAST_PORT: Final = 65_535
NEEDED: Final = ("streamlit", "plotly", "pyvis")
"""What the extra ``app`` installs."""


def add_to(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "app", serve, document=False)
    parser.add_argument(
        "workspace", nargs="?", metavar="FOLDER", help="workspace folder (default: untaken-workspace)"
    )
    parser.takes_flag("--demo", "start with the sample runs")
    parser.takes_one(
        "--address",
        "HOST",
        "default 127.0.0.1, this machine only; another one needs sign-in or --insecure",
        default=LOOPBACK,
    )
    parser.takes_flag("--insecure", "serve anybody who reaches --address, without sign-in")
    parser.add_argument(
        "--port", type=port, default=DEFAULT_PORT, help="default 8501; if it is in use, the next free port"
    )


def port(word: str) -> int:
    """The number of a port of this machine."""
    value = int(word)
    if not 0 <= value <= LAST_PORT:
        raise argparse.ArgumentTypeError(f"{word} is not a port; ports go from 0 to {LAST_PORT}")
    return value


def serve(args: argparse.Namespace, console: Console) -> int:
    """Starts Streamlit; its exit code is ours."""
    missing = [name for name in NEEDED if find_spec(name) is None]  # not imported, which takes seconds
    if missing:
        raise UsageError(
            "app-extra-missing",
            f"the app needs {', '.join(missing)}, which is not installed",
            hint=HINTS["app"],
        )
    app = app_folder() / "server.py"
    reach = _reach(args, console)
    free = free_port(args.port, args.address)
    environment = os.environ | _settings(args) | reach
    Path(environment["UNTAKEN_WORKSPACE"]).mkdir(parents=True, exist_ok=True)  # or say now why it cannot be
    removed = "  (removed when the app ends)" if environment.get(TEMPORARY) else ""
    console.say(f"Workspace: {environment['UNTAKEN_WORKSPACE']}{removed}")
    console.say(f"Untaken is at http://{args.address}:{free}  (stop it with Ctrl+C)")
    console.out.flush()  # what is buffered is lost when another program takes our place
    options = ["--server.address", args.address, "--server.port", str(free), "--server.headless", "true"]
    command = [sys.executable, "-m", "streamlit", "run", str(app), *options]
    if os.name == "posix":  # become the server, so that stopping us stops it
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


def _reach(args: argparse.Namespace, console: Console) -> dict[str, str]:
    """What the server has to know where others can reach it; refused where nothing keeps strangers out."""
    if is_loopback(args.address):
        return {}
    if not args.insecure and not _has_sign_in():
        raise UsageError(
            "app-open-to-strangers",
            f"anybody who reaches {args.address} could read and change this workspace",
            hint="Set up sign-in (docs/cli.md, untaken app), or add --insecure if a proxy or firewall "
            "keeps strangers out.",
        )
    if args.insecure:
        console.warn(f"Anybody who reaches {args.address} can read and change this workspace.")
    reach = {} if args.insecure else {SIGN_IN: REQUIRED}
    if HOSTS in os.environ:  # who runs the server has named its hosts: ours would replace them
        return reach
    if ip := _unspecified(args.address):
        console.warn(f"{ip} names no host: name those it answers for in {HOSTS}, separated by blanks.")
        return reach
    return reach | {HOSTS: f"localhost {LOOPBACK} {args.address}"}


def _unspecified(address: str) -> str:
    """The address if it covers every address of this machine, else nothing."""
    try:
        return address if ip_address(address).is_unspecified else ""
    except ValueError:
        return ""


def _has_sign_in() -> bool:
    """Whether Streamlit's secrets have a section ``[auth]``; unreadable ones have none."""
    for folder in (app_folder(), Path.home()):  # where Streamlit, served from the first, looks for them
        with suppress(OSError, tomllib.TOMLDecodeError):
            if "auth" in tomllib.loads((folder / ".streamlit" / "secrets.toml").read_text("utf-8")):
                return True
    return False


def free_port(first: int, address: str = LOOPBACK) -> int:
    """`first`, or the next port that nobody listens on."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for number in range(first, min(first + PORTS_TRIED, LAST_PORT + 1)):
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            # As servers do: a port that one has just left is free.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((address, number))
            except OSError:  # or no address of this machine
                continue
            return int(probe.getsockname()[1])
    raise UsageError("no-free-port", f"no free port from {first} on", hint="Choose another port with --port.")
