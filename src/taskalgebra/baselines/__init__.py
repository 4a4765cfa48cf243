"""What others do with tasks and values, under one interface.

A `Baseline` learns some tables by interaction and then acts on expressions without learning more:

    from taskalgebra.baselines.plain import MaxOfTasks

    learned = MaxOfTasks().learn(space, {"top": top, "left": left}, seed=0)
    actions = learned.actions("top | left")          # [S]

Each differs in the tables that it learns and in how it puts them together.  Q_M is a plain value
function `[S, A]`, Q̄_M an extended one `[S, G, A]`, ψ the successor features `[S, A, G + 1]`.

| baseline           | tables                     | acts greedily on                 | expresses   |
|--------------------|----------------------------|----------------------------------|-------------|
| `ExtendedValues`   | Q̄ of base tasks, M_U, M_∅ | min, max and ¬ on Q̄             | everything  |
| `MaxOfTasks`       | Q of base tasks            | max{Q₁, Q₂} for ∨                | ∨           |
| `MaxOfGoals`       | Q of single-goal tasks     | max_{g desired} Q_g              | all but M_∅ |
| `AverageOfTasks`   | Q of base tasks            | (Q₁ + Q₂)/2 for ∧, max for ∨     | ∧, ∨        |
| `FromScratch`      | Q of every task            | Q_M                              | everything  |
| `FeaturesOfTasks`  | ψ of policies of tasks     | max_i ψ_i · w_M                  | everything  |
| `FeaturesOfGoals`  | ψ of policies to one goal  | max_g ψ_g · w_M                  | everything  |
| `SumOfGoals`       | τ log Z of single goals    | Σ_g exp(r_M(g) / τ) Z_g          | everything  |
| `SoftMaxOfTasks`   | soft Q of base tasks       | τ log ½ Σ exp(Q_k / τ) for ∨     | ∨           |
| `CorrectedAverage` | soft Q, C of sets of tasks | (Q₁ + Q₂)/2 − C for ∧, max for ∨ | ∧, ∨        |
| `HindsightGoals`   | Q(s, g, a), one table      | max_{g desired} Q(·, g, ·)       | all but M_∅ |

Where they are exact, given exact tables of a deterministic world that meets Assumption 1:
`ExtendedValues` and `FromScratch` always; `MaxOfTasks`, `MaxOfGoals` and `HindsightGoals` wherever
they are defined; `FeaturesOfGoals` wherever its policies reach their goals.  `FeaturesOfTasks` is
never worse than the best base policy, but no base policy goes to a goal that no base task desires.
`AverageOfTasks` is exact only without ∧.

The three with a temperature are exact for other problems.  `SumOfGoals` is, also with random
outcomes, where an agent pays for leaving the passive dynamics.  `SoftMaxOfTasks` is, in
deterministic worlds, where it pays for being predictable and goals pay a soft maximum.
`CorrectedAverage` is, everywhere, where it pays for being predictable and goals pay the average.
With τ → 0 the first two become maxima of plain values, and exact; the third stays an average.

What a method does not define raises `NotExpressible`.  All tables are learned in the same way: each
from its own stream of experience, by default at random (ε = 1) and with α = 1, until the *whole*
table is within 1e-5 of its exact value, tested before every step, or until `max_steps`.
`solve` gives the exact tables without a step.

The methods are in `extended`, `plain`, `features`, `linear`, `soft` and `hindsight`; `entropic` is
the one equation of all soft values; `catalogue` lists the methods.
"""
