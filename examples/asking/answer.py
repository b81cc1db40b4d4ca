#!/usr/bin/env python3
"""Runs the experiments that `alidade ask --json` gave out on any program that speaks the language of docs/own-system.md.

    alidade ask RUN --json > asked.json
    answer.py asked.json FOLDER COMMAND...

COMMAND is started once. Each experiment's episodes are written to FOLDER/ID.jsonl, for `alidade tell RUN ID --episodes`.
Standard library only; lake.sh beside this file is a worker made of it.
"""

import json
import random
import subprocess
import sys
from pathlib import Path


class System:
    """The program, one question at a time."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, **question):
        print(json.dumps(question), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit("answer.py: the system has ended")
        return json.loads(line)


def run_episode(system, policy, number, seed):
    """One episode: what was seen of it, whatever becomes of it."""
    states = [system.ask(op="reset", episode=number, seed=seed)["state"]]
    actions, end = [], None
    for step, row in enumerate(policy):
        if len(actions) == len(states):
            states.append(states[-1])  # it has terminated: it stays where it is
        actions.append(row[states[-1]])
        if end == "terminated" or step + 1 == len(policy):
            continue
        answer = system.ask(op="step", step=step, action=actions[-1])
        if "error" in answer:
            return {"states": states, "actions": actions, "complete": False}
        states.append(answer["state"])
        end = answer.get("end")
        if end == "truncated":
            return {"states": states, "actions": actions, "complete": False}
    return {"states": states, "actions": actions}


def main():
    asked, folder, command = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]), sys.argv[3:]
    folder.mkdir(exist_ok=True)
    if not asked["experiments"]:
        return
    system = System(command)
    horizon = asked["experiments"][0]["horizon"]
    sizes = {"states": len(asked["experiments"][0]["policy"][0])}
    system.ask(op="info", protocol=1, horizon=horizon, **sizes)
    for experiment in asked["experiments"]:
        first, count = experiment["first_episode"], experiment["episodes"]
        seeds = experiment.get("seeds") or [random.getrandbits(53) for _ in range(count)]
        lines = [json.dumps(run_episode(system, experiment["policy"], first + k, seeds[k])) for k in range(count)]
        (folder / f"{experiment['id']}.jsonl").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
