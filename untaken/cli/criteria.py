"""``untaken criteria``: criteria that a model proposes, their values, and which deserve trust (§8)."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict

from untaken.cli.agree import TRUST
from untaken.cli.asking import model_of, takes_model
from untaken.cli.console import NOTHING, Console, plain, rate
from untaken.cli.grammar import Parser, UsageError, Verbs, amount, count, group, verb
from untaken.cli.inputs import paths_of, read_graphs, read_ledgers
from untaken.errors import Finding
from untaken.facts import Ledgers
from untaken.judging import (
    ATTACKS,
    SETTING,
    TASK_CHARS,
    WORDS_IN,
    CriteriaSet,
    CriterionAgreement,
    ModelAccess,
    Proposal,
    QuantifierRun,
    Separation,
    Verification,
    VerifierThresholds,
    across_runs,
    criteria_against_people,
    criterion_means,
    example_pair,
    join_runs,
    load_criteria,
    not_proposed,
    propose,
    quantify,
    quantify_disturbed,
    read_quantifier_runs,
    save_criteria,
    trust_of,
    verify_criteria,
)
from untaken.ledger import Run, require_path
from untaken.numbers import counted
from untaken.plans import GraphSet
from untaken.views import CRITERIA_VERIFY_DOCUMENT, criteria_document, proposal_document

_SOURCES = "Pass ledgers, or recorded replies with --recorded PATH."
# Each threshold is an option, with the default that the library has.
_LIMITS: dict[str, float] = asdict(VerifierThresholds())
_MEANT = {
    "cv": "highest mean coefficient of variation over passes",
    "sd_share": "highest mean sd as a share of the scale, where means are near 0",
    "near_zero": "mean level below which the sd decides",
    "correlation": "rank correlation with a kept criterion from which one is redundant",
    "similarity": "text similarity to a kept criterion from which one is redundant",
    "subjects": "fewest tasks whose runs a rank correlation needs",
}


def add_to(verbs: Verbs) -> None:
    """Adds the verb and its own."""
    inner = group(verbs, "criteria")
    _add_propose(inner)
    does = "give each run a value for each criterion, from its ledger, a model, or recorded replies"
    parser = verb(inner, "quantify", run_quantify, does)
    _takes_runs(parser)
    parser.takes_flag("--runs", "list the values of each run in the document")
    parser.takes_one("--people", "FILE", "people's values, as recorded replies: κ and confusion by criterion")
    parser = verb(inner, "verify", run_verify, "show which criteria to keep, and why")
    _takes_runs(parser)
    parser.add_argument(
        "--disturbed",
        nargs=2,
        action="append",
        default=[],
        metavar=("ATTACK", "PATH"),
        help="recorded replies on disturbed runs; repeatable",
    )
    names = ", ".join(attack.name for attack in ATTACKS)
    parser.takes_many(
        "--attacks",
        "ATTACK",
        f"disturb the runs in these ways: {names} (default: all, or none with a model)",
        nargs="*",
        default=None,
    )
    for name, default in _LIMITS.items():
        kind = count if isinstance(default, int) else amount
        parser.takes_number(f"--{name.replace('_', '-')}", default, _MEANT[name], metavar="X", type=kind)


def _takes_runs(parser: Parser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH", help="ledgers, or folders of ledgers")
    parser.takes_many("--graphs", "PATH", "plan graphs, or folders of them")
    parser.takes_one("--recorded", "PATH", "recorded replies (*.evaluated_problems.json)")
    parser.takes_one(
        "--criteria",
        "FILE",
        "criteria file; by default beside the replies, else computed from ledgers",
    )
    takes_model(parser, unless=f"{SETTING} if only --offline is given")
    parser.takes_number("--seeds", 1, "passes of the model")


class _Found(Struct, frozen=True, kw_only=True):
    """What was quantified, and the same runs disturbed."""

    passes: tuple[QuantifierRun, ...]
    disturbed: dict[str, tuple[QuantifierRun, ...]]
    findings: tuple[Finding, ...]
    broken: bool


def run_quantify(args: argparse.Namespace, console: Console) -> int:
    """Prints means by outcome; 1 where a ledger is broken or a graph invalid."""
    with _asked(args, console) as model:
        return _quantify(args, model, console)


def _asked(args: argparse.Namespace, console: Console) -> AbstractContextManager[ModelAccess | None]:
    """The model that is asked about the runs, if one is."""
    # --offline alone: the model that the environment names, by kept replies.
    asks = (args.model or args.offline) and not args.recorded
    return model_of(args, console) if asks else nullcontext()


def _quantify(args: argparse.Namespace, model: ModelAccess | None, console: Console) -> int:
    found = _found(args, model, console, ())
    for one in found.passes:
        about = f"{one.by}, deterministic" if one.deterministic else f"{one.by}, seed {one.seed}"
        console.say(plain(f"{one.name}: {counted(len(one.items), 'run')} by {about}"))
        _print_means(one, console)
        if one.unparseable:
            console.say(f"{counted(len(one.unparseable), 'reply')} unreadable")
        console.say()
    if len(found.passes) > 1:
        console.columns(
            across_runs(found.passes),
            "over all passes=name, passes=runs, mean gap=mean_of_run_gaps:+",
            "sd of a run=mean_within_problem_sd, runs=problems, right order=runs_ordered_rightly/runs",
        )
        console.say()
    console.say("Levels count from 0, the worst accepted value; n is the number of runs with one")
    people = None
    if args.people:
        (theirs, *_) = read_quantifier_runs(args.people)
        people = criteria_against_people(found.passes, theirs)
        _say_people(people, console)
    console.document(criteria_document(found.passes, runs=args.runs, people=people, findings=found.findings))
    return 1 if found.broken else 0


def run_verify(args: argparse.Namespace, console: Console) -> int:
    """Prints what to keep and why; 1 where a ledger is broken or a graph invalid."""
    with _asked(args, console) as model:
        return _verify(args, model, console)


def _verify(args: argparse.Namespace, model: ModelAccess | None, console: Console) -> int:
    found = _found(args, model, console, _attacks(args))
    limits = VerifierThresholds(**{name: getattr(args, name) for name in _LIMITS})
    verified = verify_criteria(found.passes, disturbed=found.disturbed, thresholds=limits)
    console.columns(
        verified.criteria,
        "criterion=name",
        ("", lambda check: "kept" if check.keep else "rejected"),
        (
            "CV",
            lambda check: "deterministic" if check.stability.deterministic else rate(check.stability.cv),
        ),
        "sd/scale=stability.sd_share, α=stability.alpha",
        ("success above failed", lambda check: _superiority(check.discrimination.separation)),
        "95%=discrimination.separation.low…discrimination.separation.high:.2",
        "redundant with=redundant_with",
    )
    console.say()
    if verified.attacks:
        _print_attacks(verified, console)
    for check in verified.criteria:
        console.say(plain(f"{check.name}: {check.reason}"))
    console.say()
    over = f"{counted(verified.subjects, 'run')}, {verified.passes} pass{'es' * (verified.passes != 1)}"
    console.say(f"{len(verified.kept)} of {len(verified.criteria)} criteria kept; {over}")
    if not verified.attacks:
        console.say("Disturbed runs: not run, so not passed")
    console.document(CRITERIA_VERIFY_DOCUMENT(verified, findings=found.findings))
    return 1 if found.broken else 0


def _attacks(args: argparse.Namespace) -> tuple[str, ...]:
    known = tuple(attack.name for attack in ATTACKS)
    # With a model none by default: each attack has it answer for every run again.
    asked = () if args.attacks is None and (args.model or args.offline) else args.attacks
    named = known if asked is None else tuple(asked)
    for name in named:
        if name not in known:
            raise UsageError("attack-unknown", f"no attack {name!r}", hint=f"One of: {', '.join(known)}.")
    return named


def _found(
    args: argparse.Namespace, model: ModelAccess | None, console: Console, attacks: Sequence[str]
) -> _Found:
    if args.recorded:
        return _of_replies(args, console)
    if args.seeds < 1:
        raise UsageError("seeds-invalid", "at least one seed is needed", hint="For example --seeds 5.")
    ledgers = read_ledgers(paths_of(args, hint=_SOURCES), console)
    graphs = read_graphs(args.graphs) if args.graphs else GraphSet()
    passes, disturbed = _quantified(args, ledgers, graphs, attacks, model=model, console=console)
    pass_findings = [finding for one in passes for finding in one.findings]
    findings = tuple(dict.fromkeys((*ledgers.findings, *graphs.findings, *pass_findings)))
    return _Found(
        passes=passes,
        disturbed=disturbed | _recorded(args),
        findings=findings,
        broken=ledgers.broken > 0 or graphs.invalid,
    )


def _of_replies(args: argparse.Namespace, console: Console) -> _Found:
    """Recorded replies, joined with the runs of the given ledgers, if any."""
    if args.graphs or args.model:
        hint = "Recorded replies already have the values. Leave out --graphs and --model."
        raise UsageError(
            "recorded-alone", "--recorded cannot be combined with plan graphs or a model", hint=hint
        )
    ledgers = read_ledgers(args.paths, console) if args.paths else Ledgers.none()
    runs = ledgers.every_run
    found: list[Finding] = []
    recorded = read_quantifier_runs(args.recorded, criteria=_criteria(args), on_finding=found.append)
    passes = join_runs(recorded, runs)
    unread = [finding for finding in found if finding.severity == "error"]
    # One file that can be read is enough to go on: the others are findings.
    if unread and not passes:
        raise unread[0].as_error()
    return _Found(
        passes=passes,
        disturbed={name: join_runs(passes, runs) for name, passes in _recorded(args).items()},
        findings=(*ledgers.findings, *found),
        broken=ledgers.broken > 0 or bool(unread),
    )


def _quantified(
    args: argparse.Namespace,
    ledgers: Ledgers,
    graphs: GraphSet,
    attacks: Sequence[str],
    *,
    model: ModelAccess | None,
    console: Console,
) -> tuple[tuple[QuantifierRun, ...], dict[str, tuple[QuantifierRun, ...]]]:
    runs = ledgers.every_run
    criteria = _criteria(args)
    chosen = [attack for attack in ATTACKS if attack.name in attacks]
    if model is None:
        passes = quantify(runs, graphs=graphs, criteria=criteria)
        return passes, quantify_disturbed(runs, graphs=graphs, attacks=chosen, criteria=criteria)
    more = {"graphs": graphs, "criteria": criteria, "model": model, "seeds": args.seeds}
    passes = quantify(runs, progress=console.progress, **more)
    return passes, quantify_disturbed(runs, attacks=chosen, progress=console.progress, **more)


def _criteria(args: argparse.Namespace) -> CriteriaSet | None:
    return load_criteria(args.criteria) if args.criteria else None


def _recorded(args: argparse.Namespace) -> dict[str, tuple[QuantifierRun, ...]]:
    # `quantify` has no such option.
    given = getattr(args, "disturbed", [])
    return {attack: read_quantifier_runs(Path(path), criteria=_criteria(args)) for attack, path in given}


def _superiority(apart: Separation) -> str:
    return rate(apart.superiority, of=f"n={apart.success_n}+{apart.failed_n}")


def _print_means(one: QuantifierRun, console: Console) -> None:
    console.columns(
        criterion_means(one),
        "criterion=name",
        ("success", lambda means: rate(means.success_mean, of=f"n={means.success_n}")),
        ("failed", lambda means: rate(means.failed_mean, of=f"n={means.failed_n}")),
        "gap:+",
        ("unscored", lambda means: sum(means.name in item.unscored for item in one.items)),
        (
            "not accepted values",
            lambda means: ", ".join(f"{v} ({n})" for v, n in means.out_of_vocabulary.items()) or NOTHING,
        ),
    )


def _say_people(found: Sequence[CriterionAgreement], console: Console) -> None:
    """κ with people by criterion; where they differ, the most frequent confusion."""

    def confused(one: CriterionAgreement) -> str:
        differing = [cell for cell in one.confusion if cell.people != cell.quantifier]
        most = max(differing, key=lambda cell: cell.n, default=None)
        return f"{most.people} → {most.quantifier}: {most.n}" if most else NOTHING

    console.say()
    console.columns(
        found,
        "pass=run, criterion=name, n, agree=agreement, 95%=low…high, kappa, 95%=kappa_low…kappa_high",
        ("", lambda one: TRUST[trust_of(one.kappa_low, one.kappa_high, one.n)]),
        ("people → quantifier", confused),
    )


def _print_attacks(found: Verification, console: Console) -> None:
    """The criterion × attack matrix: win rates, marked where the attack is noticed or rewarded."""
    rows = []
    for check in found.criteria:
        tests = check.discrimination.attacks
        marks = ["!" if test.detected else "↑" if test.rewarded else "" for test in tests]
        cells = [f"{rate(test.win_rate)}{mark}" for test, mark in zip(tests, marks, strict=True)]
        rows.append((check.name, *cells))
    console.table(("lost by the attack, ties half", *found.attacks), rows)
    console.say("! detected (95%, corrected over all attacks), ↑ rewarded")
    console.say()


SEEDS = 5


def _add_propose(verbs: Verbs) -> None:
    """Adds the verb."""
    parser = verb(verbs, "propose", run_propose, "ask a language model for criteria to judge runs by")
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="ledgers to take a successful and a failed run from"
    )
    words = "what the agent is for; @FILE reads it from a file"
    parser.takes_one("--task", "TEXT", words, required=True)
    parser.takes_one("--successful", "RUN", "id of the successful run to show")
    parser.takes_one("--failed", "RUN", "id of the failed run to show")
    takes_model(parser)
    parser.add_argument("--seeds", type=int, default=SEEDS, metavar="N", help=f"how often to ask ({SEEDS})")
    parser.takes_one("--tau", "T", "cosine above which two criteria are merged", type=float)
    parser.takes_out("FILE", "write the criteria file (*.criteria.json)")


def run_propose(args: argparse.Namespace, console: Console) -> int:
    """Prints what was proposed; 1 where a ledger is broken.

    Raises:
        UntakenError: ``criteria-not-proposed``.
    """
    _check_proposing(args)
    task = _task(args.task)
    ledgers = read_ledgers(args.paths, console) if args.paths else Ledgers.none()
    successful, failed = _pair(args, ledgers.every_run)
    with model_of(args, console) as model:
        found = propose(
            task,
            successful=successful,
            failed=failed,
            model=model,
            seeds=range(args.seeds),
            tau=args.tau,
            progress=console.progress,
        )
        _print_proposal(found, console)
        # Before the error, too: it says what was asked, and what came back.
        console.document(
            proposal_document(
                found, model=model.name, successful=successful, failed=failed, findings=ledgers.findings
            )
        )
    if not found.criteria.criteria:
        raise not_proposed(found)
    if args.out:
        save_criteria(found.criteria, args.out)
        console.warn(f"written: {plain(args.out)}")  # on stderr: stdout may be the document
    return 1 if ledgers.broken else 0


def _check_proposing(args: argparse.Namespace) -> None:
    if args.seeds < 1:
        raise UsageError("seeds-invalid", "at least one seed is needed", hint="For example --seeds 5.")
    if args.tau is not None and not 0 <= args.tau <= 1:
        raise UsageError("threshold-invalid", "--tau is between 0 and 1", hint="1 merges equal names only.")
    if (args.successful or args.failed) and not args.paths:
        raise UsageError(
            "no-ledgers", "--successful and --failed name runs, but no PATH of a ledger is given"
        )


def _task(words: str) -> str:
    """The text, or that of the file it names with ``@``."""
    if words.startswith("@"):
        require_path(Path(words[1:]))
        words = Path(words[1:]).read_text("utf-8", errors="replace")
    if not words.strip():
        raise UsageError(
            "task-empty",
            "the task description is empty",
            hint="Describe in one sentence what the agent is for.",
        )
    return words.strip()[:TASK_CHARS]


def _pair(args: argparse.Namespace, runs: list[Run]) -> tuple[Run | None, Run | None]:
    """The runs named, else a pair of one task."""
    if args.successful is None and args.failed is None:
        return example_pair(runs)
    by_id = {run.run_id: run for run in runs}
    for name in (args.successful, args.failed):
        if name is not None and name not in by_id:
            raise UsageError(
                "run-unknown",
                f"no run {name!r} in {', '.join(args.paths)}",
                hint="`untaken verify` lists them.",
            )
    return by_id.get(args.successful), by_id.get(args.failed)


def _print_proposal(found: Proposal, console: Console) -> None:
    rows = found.consolidation.groups
    values = ("accepted values, worst to best", lambda one: " < ".join(one.criterion.accepted_values))
    console.columns(rows, "criterion=criterion.name, proposed=proposals, from=criterion.origin", values)
    console.say()
    for one in rows:
        if one.criterion.merged:
            console.say(f"{plain(one.criterion.name)} also covers {plain(', '.join(one.criterion.merged))}")
    asked = sum(len(seeds) for seeds in found.answers.values()) + len(found.unanswered)
    proposed = f"{counted(len(rows), 'criterion') if len(rows) == 1 else f'{len(rows)} criteria'}"
    console.say(f"{proposed} of {counted(asked, 'question')}; {len(found.unanswered)} without an answer")
    console.say(f"Merged above a cosine of {found.consolidation.tau:g}: {WORDS_IN[found.consolidation.by]}")
    for why in dict.fromkeys(found.unanswered):
        console.say(f"  unanswered: {plain(why)}")
    console.say(
        "Criteria are used only after a person accepts them, on the Criteria page or in the file (status)."
    )
