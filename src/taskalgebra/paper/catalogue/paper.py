"""The figures of the paper's main part, and its theory, which has none."""

from __future__ import annotations

from functools import partial

from taskalgebra.paper.catalogue.figure import Figure, Picture, figure, film
from taskalgebra.paper.claims import boxman, rooms, samples, theory
from taskalgebra.paper.claims.verdicts import Question
from taskalgebra.paper.results.labels import FIXED, RANDOM

THEORY = figure(
    "Sections 2 and 3",
    "Theory",
    "Lemmas and theorems are checked against exact tables: every triple of the 16 tasks of Four "
    "Rooms, and random worlds with dead ends and unreachable goals. Rewards are dyadic, so that "
    "equal means equal to the last bit. “As printed” are small worlds that the paper's assumptions "
    "allow and its proofs do not cover.",
    Question(("theorems",), theory.theorems),
    id="theory",
)
MAIN: tuple[Figure, ...] = (
    figure(
        "Figure 1",
        "Rewards of two regions",
        "Two tasks in a plane: reach the left, reach the bottom. Negation, disjunction and "
        "conjunction pay where they should. The average, which earlier work uses in place of the "
        "conjunction, also pays in regions of a single task.",
        Picture(
            "figure_1_rewards",
            "rewards",
            "Six squares coloured by reward: left, down, not left, left or down, left and "
            "down, and the average, which is half in two quarters where the conjunction is "
            "zero.",
        ),
        Question(("rewards",), rooms.rewards),
    ),
    figure(
        "Figure 2",
        "Composition in Four Rooms",
        "Algorithm 1 learns extended values of two tasks: L, be in a left room, and T, be in a top "
        "room. Or, and, exclusive or and nor are then composed from the two tables; nothing more "
        "is learned. The upper row has a small map for each of the four goals, the lower row the "
        "maximum over goals, with the best action in each cell.",
        Picture(
            "figure_2_composition",
            "composition",
            "Six columns, L, T, or, and, exclusive or, nor: above, four maps of values in a "
            "Four Rooms grid, one for each goal; below, one map of values with arrows that "
            "lead to the goals of the task.",
        ),
        Question(("composition",), rooms.composition),
        Question(("optimal_sixteen",), rooms.sixteen_tasks),
    ),
    figure(
        "Figure 3a",
        "Samples to learn regular and extended values",
        "Environment steps until the whole table of Q-learning is exact, summed over the 16 tasks "
        "of Four Rooms, in an order of its own in each run. Extended values cost more, because "
        "they hold the way to every goal. Shaded is what other orders give, with cheap tasks "
        "first or last.",
        Picture(
            "figure_3a_samples",
            "samples",
            "Left: two rising, nearly straight lines of cumulative samples over 16 tasks; that of "
            "extended values is about three times as high. Right: the samples of each task; "
            "false and true stand out.",
        ),
        Question(("samples",), samples.samples),
    ),
    figure(
        "Figure 3b",
        "How many tasks are solved without learning",
        "With K tasks learned, disjunction alone gives 2^K − 1 tasks, the Boolean algebra 2^(2^K). "
        "Small cases were counted by forming every expression.",
        Picture(
            "figure_3b_n_tasks",
            "n_tasks",
            "Number of solvable tasks over number of learned tasks on a logarithmic axis: the "
            "curve of the Boolean algebra leaves that of disjunction far below.",
        ),
        Question(("n_tasks",), rooms.n_tasks),
    ),
    figure(
        "Figure 3c",
        "Forty goals",
        "The same rooms with 40 goals. Disjunction needs one task for each goal; the algebra needs "
        "a few base tasks, whose labels tell all goals apart, and composes any of 2^40 goal sets. "
        "The right panel is ours: what each of several known ideas saves.",
        Picture(
            "figure_3c_forty_goals",
            "samples",
            "Left: cumulative samples over tasks; the line of extended values ends after six "
            "tasks, below the end of the line of regular values for 40. Right: dots with error "
            "bars on a logarithmic axis, samples falling from over a million to about 1,400 as "
            "ideas are added one by one.",
            needs=("forty_goals", "efficient"),
        ),
        Question(("layout",), rooms.n_base_tasks, figures=("supplement_layout",)),
        Question(("forty_goals",), rooms.forty_goals),
        Question(("optimal_forty",), rooms.any_of_forty),
        Question(("efficient",), rooms.fewer_samples, ours=True),
    ),
    figure(
        "Figure 4",
        "Extended values from pixels",
        "A network sees the game Boxman as an image of 84 × 84 pixels and is given the goal as an "
        "image too. The figure shows its values for two base tasks, collect what is blue and "
        "collect squares, with the agent on every cell.",
        Picture(
            "figure_4_extended_values",
            "boxman_values",
            "Two maps of values over the Boxman board, for blue and for square: peaks at "
            "desired objects, lower hills at the others.",
        ),
        Question(("boxman_values",), boxman.extended_values),
    ),
    figure(
        "Figure 5",
        "Composition from pixels",
        "Networks of the two base tasks, composed: blue or square, blue and square, blue or square "
        "but not both. From top to bottom: extended values, values, and trajectories of the "
        "composed agents.",
        Picture(
            "figure_5_composition",
            "boxman_composition",
            "Three columns, or, and, exclusive or: maps of extended values, maps of values, "
            "and game boards with paths that end at objects of the composed task.",
            {"setting": FIXED},
            needs=("boxman_values", "boxman_trajectories"),
        ),
        film(
            "boxman_blue_xor_square",
            "Film: the agent walks to an object that is blue or a square, but not a blue "
            "square, and collects it; four episodes.",
            setting=FIXED,
            task="blue ^ square",
        ),
        Question(("boxman_returns",), boxman.composition),
    ),
    figure(
        "Figure 6",
        "Returns in Boxman",
        "What the base tasks and three compositions earn. The paper plays 1,000 episodes from "
        "random starts; we play every start, so that the means are exact.",
        Picture(
            "figure_6_returns",
            "boxman_returns",
            "Returns of five tasks, blue, square, or, and, exclusive or, beside those of the "
            "best policy.",
        ),
        Question(("boxman_returns",), partial(boxman.returns, setting=FIXED, where="Fig. 6")),
    ),
    figure(
        "Section 5, footnote",
        "Random objects, picked up",
        "The same game with all objects at random places in every episode. The paper shows no "
        "figure for this setting with pick-up; ours has twelve tasks.",
        Picture(
            "supplement_random_returns",
            "boxman_returns",
            "Returns of twelve tasks in random layouts beside those of the best policy.",
            {"setting": RANDOM},
        ),
        film(
            "boxman_random_not_blue_or_square",
            "Film: in a new layout each time, the agent collects an object that is neither "
            "blue nor a square; four episodes.",
            setting=RANDOM,
            task="~(blue | square)",
        ),
        Question(
            ("boxman_returns",),
            partial(boxman.returns, setting=RANDOM, where="Section 5, footnote on random objects"),
        ),
        id="random-objects",
    ),
)
