"""Published figures of tasks with time.

Skill Machines (Nangue Tasse et al., ICLR 2024): the sums of discounted rewards and the success were
read off the curves that are stored beside its code, to about 3 %; a sum over 100 episodes is the
score.  DeepLTL (Jackermeier and Abate, ICLR 2025) prints success and mean steps of itself and of
GCRL-LTL and LTL2Action.  Moving targets: median returns, the score, from the curves.
"""

from __future__ import annotations

from taskalgebra.showcase.temporal.record import Published

SKILL_MACHINES = "Skill Machines, ICLR 2024, read off its curves"
DEEP_LTL = "DeepLTL, ICLR 2025"
ZERO_SHOT, WITH_LEARNING = "Skill Machine", "Skill Machine, 400k steps"
OFFICE, MOD = "Office", "Office-Mod"
LETTERS, FLAT, MOVING = "LetterWorld", "FlatWorld", "Moving targets"
NOTHING_LEFT = "Long, nothing left"
"""Long as the published code plays it, where mail and people run out for good."""


def _office() -> list[Published]:
    figures = (
        (OFFICE, "Coffee", (0.98, 24.5), (0.99, 25.0)),
        (OFFICE, "CoffeeMail", (1.0, 4.6), (1.0, 7.3)),
        (OFFICE, NOTHING_LEFT, (1.0, 0.0010), (1.0, 0.0010)),
        (MOD, "Coffee", (0.71, 23.0), (0.81, 25.0)),
        (MOD, "CoffeeStrict", (0.01, 0.4), (0.98, 27.0)),
    )
    return [
        Published(world, task, method, success, score=score, source=SKILL_MACHINES)
        for world, task, *pairs in figures
        for method, (success, score) in zip((ZERO_SHOT, WITH_LEARNING), pairs, strict=True)
    ]


def _letters() -> list[Published]:
    methods = ("DeepLTL", "GCRL-LTL", "LTL2Action")
    figures = {
        "1": ((0.999, 9.66), (0.937, 15.29), (0.754, 29.48)),
        "2": ((0.982, 7.26), (0.935, 9.77), (0.794, 19.04)),
        "3": ((1.0, 12.23), (0.998, 20.72), (0.406, 40.31)),
        "4": ((0.969, 12.13), (0.816, 14.60), (0.715, 28.83)),
        "5": ((0.997, 9.48), (0.998, 25.63), (0.441, 31.84)),
    }
    return [
        Published(LETTERS, task, method, success, steps, source=DEEP_LTL)
        for task, pairs in figures.items()
        for method, (success, steps) in zip(methods, pairs, strict=True)
    ]


def _flat() -> list[Published]:
    figures = ((1.0, 79.7), (0.999, 52.8), (0.978, 71.8), (0.86, 43.9), (0.996, 37.0))
    return [
        Published(FLAT, str(i), "DeepLTL", success, steps, source=DEEP_LTL)
        for i, (success, steps) in enumerate(figures, 1)
    ]


def _moving() -> list[Published]:
    figures = {
        "blue": (3.0, 16.0),
        "square": (8.0, 20.0),
        "circle | square": (17.0, 28.5),
        "blue ^ square": (-1.0, 20.0),
    }
    return [
        Published(MOVING, task, method, score=score, source=SKILL_MACHINES)
        for task, pair in figures.items()
        for method, score in zip((ZERO_SHOT, "its optimum"), pair, strict=True)
    ]


PUBLISHED: tuple[Published, ...] = (*_office(), *_letters(), *_flat(), *_moving())
