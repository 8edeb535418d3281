"""Every verb with what it does and an example: what ``untaken --help`` shows without loading any."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

PURPOSES: Final = {
    "Begin": {
        "app": "start the app in the browser, on this machine only",
        "formats": "list the foreign formats that can be converted",
        "convert": "turn foreign traces into ledgers and plan graphs",
        "mapping": "draft and check a mapping file for a format of your own",
        "verify": "check the integrity of ledgers",
    },
    "See what fails and why": {
        "score": "score runs against their plan graphs, by agent",
        "triage": "list what to fix first, choices that succeed more often, and contradictory runs",
        "causes": "list what failed runs have in common where they fail first",
        "compare": "show where runs of a task diverge, or what changed between two versions",
        "report": "write a self-contained HTML report",
    },
    "Compare agents and gate changes": {
        "rank": "rank agents by outcome and by sub-goals, and show where the two disagree",
        "gate": "check agents against requirements; exit 1 if one is not met",
        "mcp": "serve the documents of other verbs to coding agents, read-only (Model Context Protocol)",
        "export": "write runs with their scores and verdicts for other tools",
    },
    "Review runs and name what goes wrong": {
        "review": "list failing runs of a workspace and their review status, or set it",
        "modes": "name what goes wrong: failure modes, notes on runs, suggestions",
        "issues": "list issues: open, fixed or reopened, with rates by version; add or fix one",
    },
    "Plans and judges": {
        "graph": "check, compare, draw, discover and export plan graphs",
        "judge": "ask a language model about sub-goals that no check decides",
        "agree": "compare two authors' verdicts: agreement, Cohen's κ, disagreements",
        "criteria": "judge runs by criteria beyond success",
    },
    "Choices and their history": {
        "counterfactual": "compare choices in runs with the history of their alternatives",
        "memory": "build, show and update policy memory",
        "crafter": "plan in Crafter and score the runs",
    },
    "Housekeeping": {
        "workspace": "back up, restore or check a workspace",
        "schema": "print the JSON Schema of a file or a --json document",
    },
}
"""What each verb does, by what it is for; the module of its name here carries it out."""
VERBS: Final = {name: does for verbs in PURPOSES.values() for name, does in verbs.items()}

EXAMPLES: Final = {
    "app": ("untaken app --demo", "untaken app my-workspace --port 8600"),
    "formats": ("untaken formats",),
    "convert": (
        "untaken convert traces/ -o converted",
        "untaken convert results.json --from tau-bench -o out",
        "untaken convert logs/ --mapping our-bot.mapping.yaml -o out",
    ),
    "mapping check": ("untaken mapping check our-bot.mapping.yaml logs/",),
    "mapping draft": ("untaken mapping draft logs/ --name our-bot -o our-bot.mapping.yaml",),
    "verify": ("untaken verify ledgers/", "untaken verify run.jsonl --json"),
    "score": (
        "untaken score ledgers/ --graphs graphs/",
        "untaken score ledgers/ --graphs graphs/ --missing drop --verdicts 'human:*' --runs",
    ),
    "rank": ("untaken rank ledgers/ --graphs graphs/",),
    "triage": (
        "untaken triage ledgers/ --graphs graphs/",
        "untaken triage ledgers/ --graphs graphs/ --packet 1",
    ),
    "causes": ("untaken causes ledgers/ --graphs graphs/",),
    "compare": (
        "untaken compare ledgers/ --graphs graphs/ --task refund-01",
        "untaken compare ledgers/ --graphs graphs/ --versions 1.0 1.1 --discordant",
    ),
    "gate": ("untaken gate ledgers/ --graphs graphs/ --require 'critical_completion>=0.9'",),
    "report": ("untaken report ledgers/ --graphs graphs/ --html report.html",),
    "export": (
        "untaken export ledgers/ --graphs graphs/ --to otel -o results.jsonl",
        "untaken export ledgers/ --graphs graphs/ --to xes -o runs.xes",
    ),
    "mcp": ("untaken mcp ledgers/ --graphs graphs/", "untaken mcp --skill"),
    "judge": ("untaken judge ledgers/ --graphs graphs/ --model openai:gpt-4.1 --append",),
    "agree": ("untaken agree ledgers/ --a 'human:*' --b 'judge:*'",),
    "review": ("untaken review --workspace my-workspace",),
    "modes list": ("untaken modes list --workspace my-workspace",),
    "modes import": ("untaken modes import mast --workspace my-workspace --by ann",),
    "modes assign": (
        "untaken modes assign --workspace my-workspace --run run-7 --event 12 --mode off-task --by ann",
    ),
    "modes rename": ("untaken modes rename off-task 'Left the task' --workspace my-workspace --by ann",),
    "modes merge": ("untaken modes merge loops --into step-repeated --workspace my-workspace --by ann",),
    "modes split": ("untaken modes split check-wrong --into Weak None --workspace my-workspace --by ann",),
    "modes retire": ("untaken modes retire off-task --workspace my-workspace --by ann",),
    "modes restore": ("untaken modes restore off-task --workspace my-workspace --by ann",),
    "modes agree": ("untaken modes agree --workspace my-workspace",),
    "modes notes": ("untaken modes notes --workspace my-workspace",),
    "modes suggest": ("untaken modes suggest --workspace my-workspace",),
    "modes pivot": ("untaken modes pivot --workspace my-workspace --by version",),
    "issues": (
        "untaken issues --workspace my-workspace",
        "untaken issues ledgers/ --graphs graphs/ --file issues.yaml",
    ),
    "memory build": ("untaken memory build ledgers/ -o agents.memory.jsonl",),
    "memory show": ("untaken memory show agents.memory.jsonl",),
    "memory queue": ("untaken memory queue agents.memory.jsonl ledgers/",),
    "memory preview": ("untaken memory preview agents.memory.jsonl",),
    "memory apply": ("untaken memory apply agents.memory.jsonl",),
    "memory verify": ("untaken memory verify agents.memory.jsonl ledgers/",),
    "counterfactual": (
        "untaken counterfactual ledgers/",
        "untaken counterfactual ledgers/ --memory agents.memory.jsonl --append",
    ),
    "criteria propose": (
        "untaken criteria propose ledgers/ --task 'Refund a customer' --model openai:gpt-4.1",
    ),
    "criteria quantify": ("untaken criteria quantify ledgers/ --graphs graphs/",),
    "criteria verify": ("untaken criteria verify ledgers/ --graphs graphs/",),
    "crafter run": ("untaken crafter run --policy random -o episodes",),
    "crafter win": ("untaken crafter win --policy scripted --task collect_wood",),
    "crafter score": ("untaken crafter score scores/",),
    "graph check": ("untaken graph check graphs/",),
    "graph audit": ("untaken graph audit graphs/ --against ledgers/",),
    "graph diff": ("untaken graph diff old.plan.yaml new.plan.yaml",),
    "graph draw": ("untaken graph draw refund.plan.yaml -o refund.svg",),
    "graph discover": ("untaken graph discover ledgers/ -o draft.plan.yaml",),
    "graph export": ("untaken graph export refund.plan.yaml --to mermaid",),
    "workspace backup": ("untaken workspace backup backups/ --workspace my-workspace",),
    "workspace restore": ("untaken workspace restore backup.zip --to restored",),
    "workspace doctor": ("untaken workspace doctor --workspace my-workspace",),
    "schema": ("untaken schema", "untaken schema score"),
}
"""Commands to begin with, by verb."""
FIRST: Final = ("app", "convert", "score", "rank")
"""The verbs whose example ``untaken --help`` shows."""


def examples(prog: str) -> Iterator[str]:
    """The examples of a verb; of a group of verbs the first of each; of the program those to begin with."""
    path = prog.removeprefix("untaken").strip()
    if path in EXAMPLES:
        yield from EXAMPLES[path]
    else:
        yield from (
            given[0]
            for name, given in EXAMPLES.items()
            if (name.startswith(f"{path} ") if path else name in FIRST)
        )


def overview() -> str:
    """Every verb by what it is for: what ``untaken`` alone prints."""
    wide = max(map(len, VERBS))
    lines = ["Review recorded runs of LLM agents.", ""]
    for purpose, verbs in PURPOSES.items():
        lines += [purpose, *(f"  {name:<{wide}}  {does}" for name, does in verbs.items()), ""]
    return "\n".join([*lines, "untaken app --demo opens the samples; untaken VERB --help has options."])
