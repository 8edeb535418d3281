"""Planted causes: whether the first three items of the fix-first list name them.

Each corpus is a desk made up: its steps, tools, tasks and plan. An agent that works at it is executed,
and its runs are written by the program's own writer. One to four causes are planted in it:

* ``tool_error``: a tool refuses calls with one value of an argument;
* ``argument``: the agent sends a wrong value;
* ``skipped``: the agent leaves a critical step out;
* ``missing_information``: the agent sends a value that it never looked up;
* ``skill``: a skill does a step wrongly in one context.

In a hard corpus the agent also skips a harmless early step in 25 to 75% of all runs, does steps in any order
that their dependencies allow, and 3% of outcomes are flipped. Where each task has a plan of its own, ids and
titles differ between tasks. A cause counts where at least 3 failed runs of 2 tasks met it first. It is found
where one of the first three items is at its sub-goal and names it; rivals only have to name the sub-goal:

* most failures: sub-goals by the failed runs that did not complete them;
* commonest error: the tool of the commonest error text in failed runs;
* by dependencies: sub-goals whose dependencies were completed, by failed runs.

A rule for what is recommended is wrong where something that nobody planted is recommended in more than 5% of
corpora, with causes or without any; or where it is silent about an *unseen* cause, a critical step that the
agent leaves out and that no outcome notices.

    python benchmarks/planted.py [corpora of each kind] [noise-only corpora] [first seed]
"""

from __future__ import annotations

import json
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, Literal, NamedTuple

from untaken.analysis.corpus import Corpus, evaluate_corpus
from untaken.analysis.fix_first import FixItem, triage
from untaken.errors import Unscored
from untaken.ledger import LedgerWriter, Run, RunWriter, read_ledger
from untaken.plans import GraphSet, PlanGraph, parse_graph
from untaken.scoring.causes.places import is_failed

Kind = Literal["tool_error", "argument", "skipped", "missing_information", "skill"]
KINDS: Final[tuple[Kind, ...]] = ("tool_error", "argument", "skipped", "missing_information", "skill")
VERBS = ("find", "check", "quote", "book", "pay", "notify", "file", "verify", "assign", "ship", "close")
THINGS: Final = ("order", "claim", "ticket", "visa", "parcel", "policy", "account", "meter", "permit", "loan")
ERRORS: Final = (
    "settlement window closed for '{ref}'",
    "quota of region exhausted (code {n})",
    "record {ref} is locked by another user",
    "unsupported combination for request {n}",
)
FACTS: Final[Mapping[str, tuple[str, ...]]] = {
    "region": ("north", "south", "east", "west"),
    "currency": ("EUR", "CHF", "USD"),
    "tier": ("basic", "silver", "gold"),
    "channel": ("mail", "phone", "desk"),
}
UNITS: Final = ("kg", "lb", "pcs", "box")
UNSEEN: Final = (0.06, 0.1, 0.2, 0.3)


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A planted cause: at `step`, in runs whose fact has the value, as often as `rate`.

    `unseen`: a step that is skipped, and that the outcome does not notice.
    """

    kind: Kind
    step: str
    fact: str
    value: str
    rate: float
    error: str = ""
    unseen: bool = False


@dataclass(frozen=True, kw_only=True)
class Step:
    """A sub-goal of the desk, done by a call of its own tool."""

    name: str
    deps: tuple[str, ...]
    critical: bool
    harmless: bool = False


@dataclass(frozen=True, kw_only=True)
class Desk:
    """A desk with its causes; `hard` and `family` as in the module's words."""

    steps: tuple[Step, ...]
    tasks: Mapping[str, Mapping[str, str]]
    causes: tuple[Cause, ...]
    hard: bool
    family: bool
    noise: float

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


@dataclass(kw_only=True)
class Truth:
    """The runs that met each cause first, and failed; by the number of the cause."""

    first: dict[int, list[str]] = field(default_factory=dict)


def made_up(rng: random.Random, *, hard: bool, family: bool, causes: int, unseen: float = 0) -> Desk:
    """A desk with some causes, each at a step of its own; of rate `unseen`, with one more that is unseen."""
    names = [f"{verb}_{thing}" for verb in rng.sample(VERBS, 7) for thing in [rng.choice(THINGS)]]
    steps = []
    for name in names[: rng.randint(5, 7)]:
        before = [step.name for step in steps]
        deps = tuple(rng.sample(before, min(len(before), rng.choice((1, 1, 2)))))
        steps.append(Step(name=name, deps=deps, critical=rng.random() < 0.4))
    if hard:
        early = Step(name=f"greet_{rng.choice(THINGS)}", deps=(), critical=False, harmless=True)
        second = steps[1]
        steps[1] = Step(name=second.name, deps=(*second.deps, early.name), critical=second.critical)
        steps.insert(1, early)
    many = range(rng.randint(8, 14))
    tasks = {f"t{n}": {name: rng.choice(values) for name, values in FACTS.items()} for n in many}
    places = rng.sample([step.name for step in steps if not step.harmless], causes)
    planted = tuple(_cause(rng, place, tasks) for place in places)
    if unseen:
        step = rng.choice([step.name for step in steps if not step.harmless])
        planted += (Cause(kind="skipped", step=step, fact="", value="", rate=unseen, unseen=True),)
    skipped = {cause.step for cause in planted if cause.kind == "skipped"}
    steps = [replace(step, critical=step.critical or step.name in skipped) for step in steps]
    return Desk(
        steps=tuple(steps),
        tasks=tasks,
        causes=planted,
        hard=hard,
        family=family,
        noise=rng.uniform(0.005, 0.02),
    )


def _cause(rng: random.Random, step: str, tasks: Mapping[str, Mapping[str, str]]) -> Cause:
    kind = rng.choice(KINDS)
    fact = rng.choice(list(FACTS))
    value = rng.choice([task[fact] for task in tasks.values()])
    rate = rng.uniform(0.5, 0.95) if kind in ("tool_error", "skill") else rng.uniform(0.06, 0.3)
    return Cause(kind=kind, step=step, fact=fact, value=value, rate=rate, error=rng.choice(ERRORS))


class Agent:
    """Works a task of a desk: calls its tools, and writes what it does."""

    def __init__(self, desk: Desk, task: str, run: RunWriter, rng: random.Random) -> None:
        self.desk, self.task, self.run, self.rng = desk, task, run, rng
        self.facts = desk.tasks[task]
        self.done: dict[str, bool] = {}
        self.met: list[int] = []

    def work(self) -> bool:
        """All steps of the plan; whether the desk is content at the end."""
        facts = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        self.run.message("user", f"Please handle {self.task}: {facts}")
        for step in self.order():
            if not self.attempt(step) and self.rng.random() < 0.5:
                break
        return all(self.done.get(step.name) for step in self.desk.steps if not step.harmless)

    def order(self) -> list[Step]:
        """In the order of the plan; in a hard desk in any that dependencies allow."""
        if not self.desk.hard:
            return list(self.desk.steps)
        left, found = list(self.desk.steps), []
        while left:
            ready = [s for s in left if not any(d in [x.name for x in left] for d in s.deps)]
            found.append(self.rng.choice(ready))
            left.remove(found[-1])
        return found

    def attempt(self, step: Step) -> bool:
        """Does a step, as well as the causes planted in it let the agent; false where it was refused."""
        if step.harmless and self.rng.random() < self.harmless_rate:
            return True
        place, cause = self.planted(step)
        if cause is not None and cause.kind == "skipped":
            self.met.append(place)
            self.done[step.name] = cause.unseen or self.rng.random() < 0.25  # it was not needed this time
            return True
        sent = {"ref": f"{self.task}-{self.rng.randint(100, 999)}", "unit": "kg"} | dict(self.facts)
        wrong = self.rng.random() < self.desk.noise
        if wrong:
            sent["unit"] = self.rng.choice(UNITS[2:])
        looked = self.look_up(step, cause)
        sent["token"] = looked
        if cause is not None:
            self.met.append(place)
            if cause.kind == "argument":
                sent["unit"] = "lb"
        skill = self.choose(step, cause)
        ok = not wrong and cause is None
        refusal = cause.error if cause is not None and cause.kind == "tool_error" else ""
        for _ in range(2 if refusal else 1):
            self.call(step.name, sent, refusal)
        if not refusal and self.rng.random() < 0.05:  # a failure that trying again cures
            self.call(step.name, sent, "temporarily unavailable, try again")
            self.call(step.name, sent, "")
        self.done[step.name] = ok
        if not refusal:
            self.run.state({step.name: {"ok": ok, "skill": skill}})
        return not refusal

    def planted(self, step: Step) -> tuple[int, Cause | None]:
        """The cause that acts now at a step, if one does."""
        for place, cause in enumerate(self.desk.causes):
            if cause.step == step.name and (
                cause.kind not in ("tool_error", "skill") or self.facts[cause.fact] == cause.value
            ):
                acts = self.rng.random() < cause.rate
                return place, cause if acts else None
        return -1, None

    def look_up(self, step: Step, cause: Cause | None) -> str:
        """The token that a step needs; one that was not looked up is made up."""
        if cause is not None and cause.kind == "missing_information":
            return f"T{self.rng.randint(1000, 9999)}"
        token = f"K{sum(map(ord, self.task + step.name))}"
        call = self.run.tool_call(f"lookup_{step.name}", {"task": self.task})
        self.run.observation({"token": token}, call_id=call, ok=True)
        return token

    def choose(self, step: Step, cause: Cause | None) -> str:
        """Which of two skills does a step: the faulty one where its fault acts, else any."""
        fault = next((c for c in self.desk.causes if c.step == step.name and c.kind == "skill"), None)
        if fault is None:
            return ""
        wrong, right = f"quick_{step.name}", f"plain_{step.name}"
        other = [right] if self.facts[fault.fact] == fault.value else [right, wrong]
        chosen = wrong if cause is not None else self.rng.choice(other)
        context = {"step": step.name, fault.fact: self.facts[fault.fact]}
        self.run.choose(chosen, [wrong, right], context)
        return chosen

    def call(self, tool: str, sent: Mapping[str, str], refusal: str) -> None:
        named = self.run.tool_call(tool, sent)
        words = refusal.format(ref=sent["ref"], n=self.rng.randint(10, 99))
        content = {"error": words} if refusal else {"status": "done", "ref": sent["ref"]}
        self.run.observation(content, call_id=named, ok=not refusal)

    @property
    def harmless_rate(self) -> float:
        """The same in all runs of a desk."""
        return 0.25 + 0.5 * (sum(map(ord, self.desk.steps[0].name)) % 10) / 10


def executed(desk: Desk, rng: random.Random, folder: Path, *, runs: int = 90) -> tuple[list[Run], Truth]:
    """The runs of a desk, about so many, and which of them met which cause first."""
    truth, path = Truth(), folder / "runs.jsonl"
    trials = max(3, runs // len(desk.tasks))
    met: dict[str, int] = {}
    with LedgerWriter(path, scratch=True) as ledger:
        for task in desk.tasks:
            for trial in range(trials):
                name = f"{task}.{trial}"
                with ledger.start(
                    run_id=name, agent=rng.choice(("ann", "bob")), task_id=task, task_repeat=trial
                ) as run:
                    agent = Agent(desk, task, run, rng)
                    success = agent.work()
                    if desk.hard and rng.random() < 0.03:
                        success = not success
                    run.finish(success=success, cost=0.1)
                if agent.met and not success:
                    met[name] = agent.met[0]
    for name, place in met.items():
        truth.first.setdefault(place, []).append(name)
    return list(read_ledger(path, strict=False)[0]), truth


def plans_of(desk: Desk) -> GraphSet:
    """One plan for all tasks, or one for each with ids and titles of its own."""
    if desk.family:
        return GraphSet.of([_plan(desk, "family", ["t*"], "")])
    return GraphSet.of([_plan(desk, task, [task], task) for task in desk.tasks])


def _plan(desk: Desk, name: str, tasks: list[str], task: str) -> PlanGraph:
    def id_of(step: str) -> str:
        return f"{task}-{[s.name for s in desk.steps].index(step)}" if task else step

    goals = []
    for step in desk.steps:
        title = step.name.replace("_", " ").capitalize() + (f" for {task}" if task else "")
        skilled = any(c.step == step.name and c.kind == "skill" for c in desk.causes)
        goals.append(
            {
                "id": id_of(step.name),
                "title": title,
                "deps": [id_of(dep) for dep in step.deps],
                "critical": step.critical,
                "rules": [{"tool": step.name}],
                "check": {"expr": f"state.{step.name}.ok == true"}
                if desk.family or skilled
                else {"tool_call": {"name": step.name, "arguments": _expected(desk, task, step)}},
            }
        )
    plan = {"schema": "untaken.plan/1", "id": name, "tasks": tasks, "sub_goals": goals}
    return parse_graph(json.dumps(plan).encode(), name=f"{name}.plan.json")


def _expected(desk: Desk, task: str, step: Step) -> dict[str, str]:
    token = f"K{sum(map(ord, task + step.name))}"
    return {"unit": "kg", "token": token, "region": desk.tasks[task]["region"]}


class Largest(NamedTuple):
    """One of the three largest planted causes, and whether it was found by each list."""

    kind: Kind
    place: int
    hard: bool
    family: bool
    found: bool
    rivals: Mapping[str, bool]


@dataclass(kw_only=True)
class Tried:
    """What many corpora gave."""

    causes: list[Largest] = field(default_factory=list)
    corpora: int = 0
    unplanted: int = 0
    unplanted_for_failure: int = 0
    unseen: int = 0


def try_desk(seed: int, *, hard: bool, family: bool, causes: int, tried: Tried, unseen: float = 0) -> None:
    """Executes the agent at one desk, and asks every list for the planted causes."""
    rng = random.Random(seed)
    desk = made_up(rng, hard=hard, family=family, causes=causes, unseen=unseen)
    with TemporaryDirectory() as folder:
        runs, truth = executed(desk, rng, Path(folder))
    plans = plans_of(desk)
    corpus = evaluate_corpus(runs, plans, resamples=0)
    items = triage(corpus).items
    tried.corpora += 1
    planted = {cause.step for cause in desk.causes}
    told = [(item, _steps(desk, item)) for item in items if item.recommended]
    stray = [item for item, steps in told if not steps & planted]
    tried.unseen += any(cause.step in steps for cause in desk.causes if cause.unseen for _, steps in told)
    tried.unplanted += bool(stray)
    tried.unplanted_for_failure += any(item.ground == "failed runs" for item in stray)
    task_of = {run.run_id: run.task_id for run in runs}
    counted = {
        place: names
        for place, names in truth.first.items()
        if len(names) >= 3 and len({task_of[name] for name in names}) >= 2
    }
    ranked = {name: rival(desk, corpus) for name, rival in RIVALS.items()}
    largest = sorted(counted, key=lambda place: (-len(counted[place]), place))[:3]
    for rank, place in enumerate(largest):
        cause = desk.causes[place]
        tried.causes.append(
            Largest(
                kind=cause.kind,
                place=rank,
                hard=hard,
                family=family,
                found=any(names(desk, item, cause) for item in items[:3]),
                rivals={name: cause.step in steps[:3] for name, steps in ranked.items()},
            )
        )


def names(desk: Desk, item: FixItem, cause: Cause) -> bool:
    """Whether an item is at the step of a planted cause and says what it is."""
    if cause.step not in _steps(desk, item):
        return False
    said = item.cause
    match cause.kind:
        case "skipped":
            return item.way in ("never attempted", "stopped")
        case "tool_error":
            words = cause.error.split("{")[0].split("'")[0].strip(" (")
            return said is not None and said.kind == "tool_error" and words in said.error
        case "argument":
            return said is not None and said.argument == "unit" and said.value == "lb"
        case "missing_information":
            known = said is not None and said.kind == "missing_information"
            return known or (said is not None and said.argument == "token" and said.wrong)
        case "skill":
            if said is None:
                return False
            quick = said.kind == "skill" and said.tool == f"quick_{cause.step}"
            return quick or (said.argument, said.value) == (cause.fact, cause.value)


def _steps(desk: Desk, item: FixItem) -> set[str]:
    order = [step.name for step in desk.steps]
    return {order[int(name.split("-")[1])] if "-" in name else name for _, name in item.members}


def most_failures(desk: Desk, corpus: Corpus) -> list[str]:
    """Steps by the failed runs that did not complete them."""
    return _ranked(desk, corpus, lambda failed, step: step.name in failed)


def by_dependencies(desk: Desk, corpus: Corpus) -> list[str]:
    """Steps that were not completed although all they need was, by failed runs."""
    return _ranked(
        desk, corpus, lambda failed, step: step.name in failed and not failed.intersection(step.deps)
    )


def _ranked(desk: Desk, corpus: Corpus, counts: Callable[[set[str], Step], bool]) -> list[str]:
    order = [step.name for step in desk.steps]
    found: Counter[str] = Counter()
    for digest, score in corpus.scores.items():
        if corpus.runs[digest].success is False and not isinstance(score, Unscored):
            ids = [node.sub_goal for node in score.results if is_failed(node) or node.completed is None]
            failed = {order[int(name.split("-")[1])] if "-" in name else name for name in ids}
            found.update(step.name for step in desk.steps if counts(failed, step))
    return [name for name, _ in found.most_common()]


def commonest_error(_desk: Desk, corpus: Corpus) -> list[str]:
    """The tool of each error text in failed runs, the commonest first."""
    found: Counter[str] = Counter()
    for run in corpus.runs.values():
        for call in run.actions if run.success is False else ():
            answer = run.answers.get(call.seq)
            if answer is not None and answer.ok is False:
                found[call.tool] += 1
    return [name for name, _ in found.most_common()][:1]


RIVALS: Final[Mapping[str, Callable[[Desk, Corpus], list[str]]]] = {
    "most failures": most_failures,
    "commonest error": commonest_error,
    "by dependencies": by_dependencies,
}


def rows(tried: Tried) -> Iterator[tuple[str, Sequence[Largest]]]:
    """What the table is about: all causes, each kind, each sort of corpus, the largest."""
    yield "all", tried.causes
    for kind in KINDS:
        yield kind, [one for one in tried.causes if one.kind == kind]
    for hard, family in ((False, True), (False, False), (True, True), (True, False)):
        label = f"{'hard' if hard else 'plain'}, {'a family plan' if family else 'a plan per task'}"
        yield label, [one for one in tried.causes if (one.hard, one.family) == (hard, family)]
    yield "the largest", [one for one in tried.causes if one.place == 0]


def show(tried: Tried) -> None:
    """Prints the table."""
    print(f"{'':28}{'causes':>8}{'named':>8}" + "".join(f"{name:>18}" for name in RIVALS))
    for label, some in rows(tried):
        shares = [sum(one.found for one in some), *(sum(one.rivals[name] for one in some) for name in RIVALS)]
        cells = [f"{share / max(1, len(some)):.1%}" for share in shares]
        print(f"{label:28}{len(some):8}{cells[0]:>8}" + "".join(f"{cell:>18}" for cell in cells[1:]))
    print(unplanted(tried))


def unplanted(tried: Tried) -> str:
    """In how many corpora something is recommended that nobody planted."""
    share, alone = (n / max(1, tried.corpora) for n in (tried.unplanted, tried.unplanted_for_failure))
    return f"unplanted recommended in {share:.1%} of {tried.corpora} corpora, for failed runs in {alone:.1%}"


def main(corpora: int, noise_only: int, seed: int) -> None:
    """Runs all corpora: `corpora` of each of four sorts, then those with nothing planted."""
    tried = Tried()
    for n in range(corpora):
        for sort, (hard, family) in enumerate(((False, True), (False, False), (True, True), (True, False))):
            at = seed + 4 * n + sort
            try_desk(at, hard=hard, family=family, causes=1 + n % 4, tried=tried)
    show(tried)
    quiet = Tried()
    for n in range(noise_only):
        try_desk(seed + 1_000_000 + n, hard=bool(n % 2), family=bool(n // 2 % 2), causes=0, tried=quiet)
    if noise_only:
        print("nothing planted:", unplanted(quiet))
    for rate in UNSEEN:
        missed = Tried()
        for n in range(noise_only // len(UNSEEN)):
            at = seed + 2_000_000 + n
            try_desk(at, hard=bool(n % 2), family=bool(n // 2 % 2), causes=0, tried=missed, unseen=rate)
        share = missed.unseen / max(1, missed.corpora)
        print(f"left out unseen in {rate:.0%} of runs: recommended in {share:.1%}; {unplanted(missed)}")


if __name__ == "__main__":
    given = [int(word) for word in sys.argv[1:]]
    main(*(given + [100, 300, 60_000][len(given) :]))
