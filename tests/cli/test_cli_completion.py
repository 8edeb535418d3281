"""Completion scripts offer what the grammar knows; bash runs its script for real."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from untaken.cli import main

TYPED = {
    "verbs": ("untaken s", {"score", "schema"}),
    "inner verbs": ("untaken graph d", {"diff", "draw", "discover"}),
    "options of a verb": ("untaken score --m", {"--missing", "--min-kappa"}),
    "options after paths": ("untaken score ledgers --graphs graphs --v", {"--verdicts"}),
    "options of an inner verb": ("untaken memory build --o", {"--out"}),
    "values": ("untaken score --missing ", {"fail", "drop"}),
    "paths are left to the shell": ("untaken verify led", set()),
}


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(("typed", "offered"), TYPED.values(), ids=TYPED)
def test_bash_completes(typed: str, offered: set[str], capsys: pytest.CaptureFixture[str]) -> None:
    words = " ".join(f"'{word}'" for word in typed.split(" "))
    asked = f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _untaken; echo ${{COMPREPLY[@]}}"
    program = script("bash", capsys) + asked
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=False)
    assert (set(done.stdout.split()), done.stderr) == (offered, "")


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_accept_their_script_and_it_names_every_verb_and_option(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = script(shell, capsys)
    wanted = ["counterfactual", "discover", "drop"] + (["--verdicts"] if shell == "zsh" else ["-l verdicts"])
    assert [word for word in wanted if word not in text] == []
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)
