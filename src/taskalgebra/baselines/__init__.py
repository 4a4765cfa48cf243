"""What others do with tasks and values, under one interface.

A `Baseline` learns some tables by interaction and then acts on expressions without learning more:

    from taskalgebra.baselines.plain import MaxOfTasks

    learned = MaxOfTasks().learn(space, {"top": top, "left": left}, seed=0)
    actions = learned.actions("top | left")          # [S]

Each differs in the tables that it learns and in how it puts them together.  Q_M is a plain value
function `[S, A]`, Q̄_M an extended one `[S, G, A]`, ψ the successor features `[S, A, G + 1]`.

| baseline          | tables                      | acts greedily on              | expresses    |
|-------------------|-----------------------------|-------------------------------|--------------|
| `ExtendedValues`  | Q̄ of base tasks, M_U, M_∅   | min, max and ¬ on Q̄           | everything   |
| `MaxOfTasks`      | Q of base tasks             | max{Q₁, Q₂} for ∨             | ∨            |
| `MaxOfGoals`      | Q of single-goal tasks      | max_{g desired} Q_g           | all but M_∅  |
| `AverageOfTasks`  | Q of base tasks             | (Q₁ + Q₂)/2 for ∧, max for ∨  | ∧, ∨         |
| `FromScratch`     | Q of every task             | Q_M                           | everything   |
| `FeaturesOfTasks` | ψ of policies of base tasks | max_i ψ_i · w_M               | everything   |
| `FeaturesOfGoals` | ψ of policies to one goal   | max_g ψ_g · w_M               | everything   |

Where they are exact, given exact tables of a deterministic world that meets Assumption 1:
`ExtendedValues` and `FromScratch` always; `MaxOfTasks` and `MaxOfGoals` wherever they are defined;
`FeaturesOfGoals` wherever its policies reach their goals.  `FeaturesOfTasks` is never worse than
the best base policy, but no base policy goes to a goal that no base task desires.  `AverageOfTasks`
is exact only without ∧.  What a method does not define raises `NotExpressible`.

All tables are learned in the same way: each from its own stream of experience, by default at random
(ε = 1) and with α = 1, until the *whole* table is within 1e-5 of its exact value, tested before
every step, or until `max_steps`.

The methods are in `extended`, `plain` and `features`; `catalogue` lists them.
"""
