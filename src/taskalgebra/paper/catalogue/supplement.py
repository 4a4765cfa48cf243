"""The figures of the supplement, and those that go beyond the paper."""

from __future__ import annotations

from taskalgebra.paper.catalogue.figure import Figure, Picture, figure, film
from taskalgebra.paper.claims import boxman, supplement
from taskalgebra.paper.claims.verdicts import Question
from taskalgebra.paper.results.labels import TOUCH

SUPPLEMENT: tuple[Figure, ...] = (
    figure(
        "Figure 7",
        "Algorithm 1",
        "The paper's figure is the pseudocode of goal-oriented Q-learning. Ours shows what it "
        "does: the largest error of the table on the same random walk, with the update for wrong "
        "goals as printed and with the missing term.",
        Picture(
            "supplement_algorithm",
            "algorithm",
            "Largest error over episodes on a logarithmic axis: as printed it grows without "
            "bound, corrected it falls to rounding error.",
        ),
        Question(("algorithm",), supplement.algorithm),
    ),
    figure(
        "Figure 8",
        "Composition with dense rewards",
        "Figure 2 again, learned with rewards that grow near the task's own goals. Rewards outside "
        "goals then differ between tasks, which Assumption 1 excludes.",
        Picture(
            "supplement_composition_dense",
            "composition",
            "The six columns of Figure 2 with dense rewards; the maps look alike, but in the "
            "column L and T some arrows lead in circles.",
            {"rewards": "dense"},
        ),
        Question(("composition",), supplement.dense_composition),
    ),
    figure(
        "Figure 9",
        "Sparse or dense, same or different absorbing sets",
        "All 16 tasks, composed from tables that were learned with four combinations of relaxed "
        "assumptions, played with sparse rewards. Our box plots hide no outlier; means and "
        "failures of 60 learnings are shown beside the exact optimum.",
        Picture(
            "supplement_relaxed",
            "relaxed",
            "Box plots of returns of 16 tasks in four settings, with means, the optimum and "
            "failures marked.",
        ),
        Question(("relaxed",), supplement.relaxed),
    ),
    figure(
        "Figure 10",
        "Slippery floors",
        "Dense rewards, different absorbing sets, and moves that slip into another direction. The "
        "optimum is that of the slippery world. The paper shows slip probabilities 0.1 and 0.3. "
        "With slips and a constant learning rate of 0.1, values never come to rest, and in some "
        "learned tables to STAY looks best in a cell without a goal: a trap.",
        Picture(
            "supplement_slips",
            "relaxed",
            "Box plots of returns of 16 tasks for slip probabilities 0, 0.1, 0.2 and 0.3, with "
            "means, the optimum and failures marked.",
            needs=("slips",),
        ),
        Question(("slips",), supplement.slips),
    ),
    figure(
        "Figures 11 to 13",
        "Extended values by touch",
        "Boxman without pick-up: touching a desired object ends the episode, other objects are "
        "walked over, and all positions are random. Tasks no longer share their absorbing states.",
        Picture(
            "supplement_touch_extended_values",
            "boxman_values",
            "Maps of values for purple, blue and square on one random layout: high around a "
            "wanted object, with deep dips on the other wanted ones, and grey for objects that "
            "the task never meets.",
            {"setting": TOUCH},
        ),
        Question(("boxman_values",), boxman.dips),
    ),
    figure(
        "Figure 14",
        "Returns by touch",
        "What the base tasks and three compositions earn in this setting, over 1,000 random "
        "layouts, beside the optimum and beside what exact values compose to.",
        Picture(
            "supplement_touch_returns",
            "boxman_returns",
            "Returns of six tasks by touch beside those of the best policy and of exact "
            "composition.",
            {"setting": TOUCH},
        ),
        Question(("boxman_returns",), boxman.touch),
    ),
    figure(
        "Figure 15",
        "Composition by touch",
        "Values and trajectories of purple or blue, blue and square, blue or square but not both.",
        Picture(
            "supplement_touch_composition",
            "boxman_composition",
            "Three columns, purple or blue, blue and square, blue exclusive-or square: maps of "
            "extended values, maps of values, and boards with paths of the composed agents.",
            {"setting": TOUCH},
            needs=("boxman_values", "boxman_trajectories"),
        ),
        film(
            "boxman_touch_purple_or_blue",
            "Film: the agent walks to the nearest object that is purple or blue; four episodes "
            "in random layouts.",
            setting=TOUCH,
            task="purple | blue",
        ),
        Question(("boxman_trajectories",), boxman.trajectories),
    ),
    figure(
        "Figure 16 and Table 1",
        "Layout and base tasks",
        "The rooms, their goals, and the labels that define base tasks: a goal belongs to a base "
        "task where its label has a 1. Two digits tell four goals apart, six tell forty.",
        Picture(
            "supplement_layout",
            "layout",
            "The Four Rooms grid with four goals and with 40 goals, each marked with its "
            "binary label.",
        ),
        Question(("layout",), supplement.table_1),
    ),
)
OURS: tuple[Figure, ...] = (
    figure(
        "Ours",
        "All 63 tasks of Boxman",
        "The paper shows three compositions. Three base tasks, blue, square and purple, name every "
        "object, so that every set of objects is a task: 63 without the empty one.",
        Picture(
            "all_63_tasks",
            "boxman_subsets",
            "The score of each of 63 composed tasks relative to its optimum, with the objects "
            "fixed and at random places.",
            needs=("boxman_returns",),
        ),
        Question(("boxman_returns",), boxman.subsets, ours=True),
        id="all-63-tasks",
    ),
)
