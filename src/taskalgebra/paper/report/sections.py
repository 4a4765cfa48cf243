"""Every figure of the paper, in its order: what it shows, in our words, and which files show it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Picture:
    """A figure or film of ours."""

    name: str  # its file, without the ending
    alt: str  # what is seen, for those who cannot see it
    film: bool = False


@dataclass(frozen=True)
class Section:
    """One figure of the paper."""

    id: str
    place: str  # as the paper numbers it
    title: str
    words: str  # what was done and what the figure says
    pictures: tuple[Picture, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The files of its pictures."""
        return tuple(picture.name for picture in self.pictures)


PAPER: tuple[Section, ...] = (
    Section(
        "figure-1",
        "Figure 1",
        "Rewards of two regions",
        "Two tasks in a plane: reach the left, reach the bottom. Their negation, disjunction and "
        "conjunction pay where they should. The average, which earlier work uses in place of the "
        "conjunction, also pays in regions that belong to one task only.",
        (
            Picture(
                "figure_1_rewards",
                "Six squares coloured by reward: left, down, not left, left or down, left and "
                "down, and the average, which is half in two quarters where the conjunction is "
                "zero.",
            ),
        ),
    ),
    Section(
        "figure-2",
        "Figure 2",
        "Composition in Four Rooms",
        "Algorithm 1 learns extended values of two tasks: L, be in a left room, and T, be in a top "
        "room. Or, and, exclusive or and nor are then composed from the two tables; nothing more "
        "is learned. The upper row has one small map for each of the four goals, the lower row the "
        "values that follow by a maximum over goals, with the best action in each cell.",
        (
            Picture(
                "figure_2_composition",
                "Six columns, L, T, or, and, exclusive or, nor: above, four maps of values in a "
                "Four Rooms grid, one for each goal; below, one map of values with arrows that "
                "lead to the goals of the task.",
            ),
        ),
    ),
    Section(
        "figure-3a",
        "Figure 3a",
        "Samples to learn regular and extended values",
        "How many environment steps Q-learning needs until its whole table is exact, added up over "
        "the 16 tasks of Four Rooms. Extended values cost more, because they hold the way to every "
        "goal.",
        (
            Picture(
                "figure_3a_samples",
                "Two rising, nearly straight lines of cumulative samples over 16 tasks; the one of "
                "extended values is about three times as high.",
            ),
        ),
    ),
    Section(
        "figure-3b",
        "Figure 3b",
        "How many tasks are solved without learning",
        "With K tasks learned, disjunction alone gives 2^K − 1 tasks, the Boolean algebra 2^(2^K). "
        "Small cases were counted by forming every expression.",
        (
            Picture(
                "figure_3b_n_tasks",
                "Number of solvable tasks over number of learned tasks on a logarithmic axis: the "
                "curve of the Boolean algebra leaves that of disjunction far below.",
            ),
        ),
    ),
    Section(
        "figure-3c",
        "Figure 3c",
        "Forty goals",
        "The same rooms with 40 goals. Disjunction needs one task for each goal; the algebra needs "
        "a few base tasks, whose labels tell all goals apart, and composes any of 2^40 goal sets. "
        "The right panel is ours: what each of several known ideas saves.",
        (
            Picture(
                "figure_3c_forty_goals",
                "Left: cumulative samples over tasks; the line of extended values ends after six "
                "tasks, below the end of the line of regular values for 40. Right: dots with error "
                "bars on a logarithmic axis, samples falling from over a million to about 1,400 as "
                "ideas are added one by one.",
            ),
        ),
    ),
    Section(
        "figure-4",
        "Figure 4",
        "Extended values from pixels",
        "A network sees the game Boxman as an image of 84 × 84 pixels and is given the goal as an "
        "image too. The figure shows its values for two base tasks, wherever the agent may stand: "
        "collect what is blue, collect squares.",
        (
            Picture(
                "figure_4_extended_values",
                "Two maps of values over the Boxman board, for blue and for square: peaks at "
                "objects that the task wants, lower hills at the others.",
            ),
        ),
    ),
    Section(
        "figure-5",
        "Figure 5",
        "Composition from pixels",
        "Networks of the two base tasks, composed: blue or square, blue and square, blue or square "
        "but not both. From top to bottom: extended values, values, and trajectories of the "
        "composed agents.",
        (
            Picture(
                "figure_5_composition",
                "Three columns, or, and, exclusive or: maps of extended values, maps of values, "
                "and game boards with paths that end at objects of the composed task.",
            ),
            Picture(
                "boxman_blue_xor_square",
                "Film: the agent walks to an object that is blue or a square, but not a blue "
                "square, and collects it; four episodes.",
                film=True,
            ),
        ),
    ),
    Section(
        "figure-6",
        "Figure 6",
        "Returns in Boxman",
        "What the base tasks and three compositions earn. The paper plays 1,000 episodes from "
        "random starts; here every start is played, so that the means are exact.",
        (
            Picture(
                "figure_6_returns",
                "Returns of five tasks, blue, square, or, and, exclusive or, beside those of the "
                "best policy.",
            ),
        ),
    ),
    Section(
        "random-objects",
        "Section 5, footnote",
        "Random objects, picked up",
        "The same game with all objects at random places in every episode. The paper shows no "
        "figure for this setting with pick-up; ours has twelve tasks.",
        (
            Picture(
                "supplement_random_returns",
                "Returns of twelve tasks in random layouts beside those of the best policy.",
            ),
            Picture(
                "boxman_random_not_blue_or_square",
                "Film: in a new layout each time, the agent collects an object that is neither "
                "blue nor a square; four episodes.",
                film=True,
            ),
        ),
    ),
)
SUPPLEMENT: tuple[Section, ...] = (
    Section(
        "figure-7",
        "Figure 7",
        "Algorithm 1",
        "The paper's figure is the pseudocode of goal-oriented Q-learning. Ours shows what it "
        "does: the largest error of the table on the same random walk, with the update for wrong "
        "goals as printed and with the term that it lacks.",
        (
            Picture(
                "supplement_algorithm",
                "Largest error over episodes on a logarithmic axis: as printed it grows without "
                "end, corrected it falls to rounding error.",
            ),
        ),
    ),
    Section(
        "figure-8",
        "Figure 8",
        "Composition with dense rewards",
        "Figure 2 again, learned with rewards that grow near the task's own goals. Rewards outside "
        "goals then differ between tasks, which Assumption 1 excludes.",
        (
            Picture(
                "supplement_composition_dense",
                "The six columns of Figure 2 with dense rewards; the maps look alike, but in the "
                "column L and T some arrows lead in circles.",
            ),
        ),
    ),
    Section(
        "figure-9",
        "Figure 9",
        "Sparse or dense, same or different absorbing sets",
        "All 16 tasks, composed from tables that were learned with four combinations of relaxed "
        "assumptions, played with sparse rewards. Our box plots hide no outlier; means and "
        "failures stand beside the exact optimum.",
        (
            Picture(
                "supplement_relaxed",
                "Box plots of returns of 16 tasks in four settings, with means, the optimum and "
                "failures marked.",
            ),
        ),
    ),
    Section(
        "figure-10",
        "Figure 10",
        "Slippery floors",
        "Dense rewards, different absorbing sets, and moves that slip into another direction. The "
        "optimum is that of the slippery world. The paper shows slip probabilities 0.1 and 0.3.",
        (
            Picture(
                "supplement_slips",
                "Box plots of returns of 16 tasks for slip probabilities 0, 0.1, 0.2 and 0.3, with "
                "means, the optimum and failures marked.",
            ),
        ),
    ),
    Section(
        "figures-11-13",
        "Figures 11 to 13",
        "Extended values by touch",
        "Boxman without pick-up: touching an object that the task wants ends the episode, other "
        "objects are walked over, and all positions are random. Tasks no longer share their "
        "absorbing states.",
        (
            Picture(
                "supplement_touch_extended_values",
                "Maps of values for purple, blue and square on one random layout: high at wanted "
                "objects, with deep dips at the others.",
            ),
        ),
    ),
    Section(
        "figure-14",
        "Figure 14",
        "Returns by touch",
        "What the base tasks and three compositions earn in this setting, over 1,000 random "
        "layouts, beside the optimum and beside what exact values compose to.",
        (
            Picture(
                "supplement_touch_returns",
                "Returns of six tasks by touch beside those of the best policy and of exact "
                "composition.",
            ),
        ),
    ),
    Section(
        "figure-15",
        "Figure 15",
        "Composition by touch",
        "Values and trajectories of purple or blue, blue and square, blue or square but not both.",
        (
            Picture(
                "supplement_touch_composition",
                "Three columns, purple or blue, blue and square, blue exclusive-or square: maps of "
                "extended values, maps of values, and boards with paths of the composed agents.",
            ),
            Picture(
                "boxman_touch_purple_or_blue",
                "Film: the agent walks to the nearest object that is purple or blue; four episodes "
                "in random layouts.",
                film=True,
            ),
        ),
    ),
    Section(
        "figure-16",
        "Figure 16 and Table 1",
        "Layout and base tasks",
        "The rooms, their goals, and labels that make base tasks: a goal belongs to a base task "
        "where its label has a 1. Two labels tell four goals apart, six tell forty.",
        (
            Picture(
                "supplement_layout",
                "The Four Rooms grid with four goals and with 40 goals, each marked with its "
                "binary label.",
            ),
        ),
    ),
)
OURS: tuple[Section, ...] = (
    Section(
        "all-63-tasks",
        "Ours",
        "All 63 tasks of Boxman",
        "The paper shows three compositions. Three base tasks, blue, square and purple, name every "
        "object, so that every set of objects is a task: 63 without the empty one.",
        (
            Picture(
                "all_63_tasks",
                "The score of each of 63 composed tasks relative to its optimum, with the objects "
                "fixed and at random places.",
            ),
        ),
    ),
)
SECTIONS = (*PAPER, *SUPPLEMENT, *OURS)
