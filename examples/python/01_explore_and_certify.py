"""Explores without a reward, then plans for some and certifies the plans."""

import alidade

problem = alidade.make_builtin("builtin:inventory")
exploration = alidade.Exploration(problem, delta=0.1)
exploration.run(alidade.SimulatedSystem(problem.true_model(), seed=1), episodes=100_000)

knowledge = exploration.knowledge
print(f"any reward: loss at most {knowledge.certificate.bound:.4f}")
for name, reward in problem.rewards.items():
    plan = knowledge.plan(reward)
    low, high = plan.value
    print(f"{name}: value in [{low:.4f}, {high:.4f}], loss at most {plan.loss_bound:.4f}")
