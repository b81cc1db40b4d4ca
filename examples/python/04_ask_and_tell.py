"""Experiments that somebody else runs: ask what to try, run it, tell what was seen."""

import tempfile

import alidade


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = alidade.Run.create(folder, "builtin:riverswim?length=4&horizon=6", system="ask")
        plant = run.problem.true_model()  # stands for the laboratory
        desk = alidade.AskTell(run)
        desk.prepare(episodes=1_000)
        while True:
            asked = desk.ask(4, worker="bench 1")
            if asked.ended:
                break
            for experiment in asked:
                seen = alidade.simulate(plant, experiment.policy, experiment.episodes, first=experiment.first_episode)
                desk.tell(experiment.id, seen, worker="bench 1")
        print(f"{desk.status.told} episodes, {run.knowledge()}")
        del desk
        run.close()


if __name__ == "__main__":
    main()
