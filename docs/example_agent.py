"""A help desk that solves tickets and records what it does: ``python example_agent.py FOLDER``."""

import sys
from pathlib import Path
from random import Random

from untaken import LedgerWriter
from untaken.ledger import Observation, Plan, RunFinished, RunWriter, State, ToolCall

GUIDES = {"password": "reset", "invoice": "resend", "login loop": "clear session"}
HUNCHES = {"password": "reset", "invoice": "resend", "login loop": "reset"}
TOOLS = {
    "find_by_number": lambda ticket: {"account": ticket["customer"]},
    "find_by_name": lambda ticket: {"account": ticket["customer"] if ticket["name is unique"] else "?"},
    "read_guide": lambda ticket: {"fix": GUIDES[ticket["topic"]]},
    "apply_fix": lambda _, fix: {"applied": fix},
    "reply": lambda _: {"replied": True},
}


class Agent:
    """Works on one ticket; `habits` are the two ways to a fix, the usual one first."""

    def __init__(self, run: RunWriter, ticket: dict, habits: tuple[str, str], rng: Random) -> None:
        self.run, self.ticket, self.habits, self.rng = run, ticket, habits, rng
        self.calls, self.state = 0, {"customer": ticket["customer"], "needed": GUIDES[ticket["topic"]]}

    def solve(self) -> None:
        """Follow the plan from the account to the reply, as far as the tools let it."""
        self.run.write(Plan, sub_goals=["account", "guide", "fix", "reply"])
        self.run.write(State, state=self.state)
        error = None
        try:
            self.call(self.choose("find_by_number", "find_by_name", number="known"))
            topic = "rare" if self.ticket["topic"] == "login loop" else "common"
            if self.choose(*self.habits, topic=topic) == "read_guide":
                self.call("read_guide")
            self.call("apply_fix", fix=self.state.get("fix", HUNCHES[self.ticket["topic"]]))
            self.call("reply")
        except TimeoutError as timeout:
            error = str(timeout)
        known = self.state.get("account") == self.ticket["customer"]
        solved = known and self.state.get("applied") == self.state["needed"] and error is None
        self.run.write(RunFinished, success=solved, steps=self.calls, cost=0.01 * self.calls, error=error)

    def choose(self, usual: str, other: str, **context: str) -> str:
        """Usually the habit, sometimes the alternative, so that there is something to learn from."""
        skill = usual if self.rng.random() < 0.7 else other
        self.run.choose(skill, [usual, other], context, propensities={usual: 0.7, other: 0.3})
        return skill

    def call(self, tool: str, attempt: int = 1, **arguments: str) -> None:
        """Use a tool, which times out now and then: then try once more, or give the ticket up."""
        self.calls += 1
        call_id = f"c{self.calls}"
        self.run.write(ToolCall, call_id=call_id, tool=tool, arguments=arguments)
        if self.rng.random() > 0.15:
            answer = TOOLS[tool](self.ticket, **arguments)
            self.state |= answer
            self.run.write(Observation, call_id=call_id, ok=True, content=answer)
            self.run.write(State, state=answer)
            return
        self.run.write(Observation, call_id=call_id, ok=False, transient=True, content="timed out")
        if attempt > 1 or self.choose("try_again", "give_up", failed="a tool") == "give_up":
            raise TimeoutError(f"{tool} timed out")
        self.run.write(Plan, sub_goals=["wait", f"{tool} again"], reason="it timed out")
        self.call(tool, attempt + 1, **arguments)


if __name__ == "__main__":
    rng = Random(7)
    with LedgerWriter(Path(sys.argv[1]) / "help-desk.jsonl") as ledger:
        for n in range(40):
            topic, unique = rng.choice(list(GUIDES)), rng.random() < 0.7
            ticket = {"customer": f"customer {n}", "topic": topic, "name is unique": unique}
            for name, habits in (("hasty", ("recall", "read_guide")), ("thorough", ("read_guide", "recall"))):
                run = ledger.start(run_id=f"{name}-{n}", agent=name, task_id=f"ticket-{topic}", task_repeat=n)
                Agent(run, ticket, habits, rng).solve()
