"""Boxman: many games at once, decisions of composed networks, and the memory of a training.

python benchmarks/boxman.py
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

import numpy as np
import torch

from report import Report, best_time
from taskalgebra.envs.boxman.art import BODY, FLOOR, OBJECT, RING, WALL
from taskalgebra.envs.boxman.board import MOVES, STEP_REWARD
from taskalgebra.envs.boxman.env import Boxman
from taskalgebra.envs.boxman.recipes import FAST
from taskalgebra.envs.boxman.vector import VectorBoxman
from taskalgebra.learning.deep.family import NetworkFamily
from taskalgebra.learning.deep.networks import make_network
from taskalgebra.learning.deep.uvfa import head_of
from taskalgebra.learning.deep.ways import NetworkReach
from taskalgebra.skills.skills import Skills
from taskalgebra.worlds.finite import NO_GOAL

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # before pygame is imported
os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
import pygame

N_GAMES = 64
SCREEN = (84, 84)


class PygameBoxman:
    """One game in the usual way: groups of sprites, a screen, and a small copy of it to learn from.

    Walls, objects and the agent are images made once at the size of the screen, and put on a filled
    background at every step.  With `walls_once` the walls are part of the background, which spares
    one blit a wall.
    """

    tile = 40

    def __init__(self, world: Boxman, *, walls_once: bool = False) -> None:
        """Open the screen and draw the sprites."""
        pygame.display.init()
        self.world = world
        board = world.board
        self.free = {(int(row), int(column)) for row, column in board.cells}
        self.cells = sorted(self.free)
        side = board.side * self.tile
        self.screen = pygame.display.set_mode((side, side))
        wall = self._surface()
        wall.fill(WALL)
        self.walls = pygame.sprite.Group()
        for row in range(board.side):
            for column in range(board.side):
                if (row, column) not in self.free:
                    self.walls.add(self._sprite(wall, (row, column)))
        self.background = None
        if walls_once:
            self.background = self.screen.convert()
            self.background.fill(FLOOR)
            self.walls.draw(self.background)
        self.things = {}
        for number, name in enumerate(board.objects):
            colour, image = OBJECT[board.colour(number)], self._surface()
            if board.shape(number) == "square":
                pygame.draw.rect(image, colour, image.get_rect().inflate(-10, -10))
            else:
                pygame.draw.circle(image, colour, image.get_rect().center, 18)
            self.things[name] = self._sprite(image, (0, 0))
        image = self._surface()
        pygame.draw.circle(image, RING, image.get_rect().center, 12)
        pygame.draw.circle(image, BODY, image.get_rect().center, 10)
        self.agent = self._sprite(image, (0, 0))
        self.objects = pygame.sprite.Group(self.things.values())
        self.agents = pygame.sprite.Group(self.agent)
        self.moves = list(MOVES.values())

    def _surface(self) -> pygame.Surface:
        return pygame.Surface((self.tile, self.tile), pygame.SRCALPHA).convert_alpha()

    def _sprite(self, image: pygame.Surface, cell: tuple[int, int]) -> pygame.sprite.Sprite:
        sprite = pygame.sprite.Sprite()
        sprite.image, sprite.rect = image, image.get_rect()
        self._place(sprite, cell)
        return sprite

    def _place(self, sprite: pygame.sprite.Sprite, cell: tuple[int, int]) -> None:
        sprite.rect.topleft = (cell[1] * self.tile, cell[0] * self.tile)

    def reset(self, rng: np.random.Generator) -> np.ndarray:
        """Lay the objects out anew."""
        order = rng.permutation(len(self.cells))
        self.where = {name: self.cells[order[i]] for i, name in enumerate(self.things)}
        self.here = self.cells[rng.integers(len(self.cells))]
        self.held: str | None = None
        for name, cell in self.where.items():
            self._place(self.things[name], cell)
        self._place(self.agent, self.here)
        return self.observation()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, dict[str, int]]:
        """Move or pick up, and look."""
        if self.held is not None:
            goal = self.world.board.objects.index(self.held)
            reward = float(self.world.task.goal_reward[goal])
            return self.observation(), reward, True, {"goal": goal}
        if action < len(self.moves):
            down, right = self.moves[action]
            there = (self.here[0] + down, self.here[1] + right)
            if there in self.free:
                self.here = there
                self._place(self.agent, there)
        else:
            for name, cell in self.where.items():
                if cell == self.here:
                    self.held = name
        return self.observation(), STEP_REWARD, False, {"goal": NO_GOAL}

    def observation(self) -> np.ndarray:
        """[84, 84, 3], the screen drawn and scaled down."""
        if self.held is None:
            if self.background is None:
                self.screen.fill(FLOOR)
                self.walls.draw(self.screen)
            else:
                self.screen.blit(self.background, (0, 0))
            self.objects.draw(self.screen)
            self.agents.draw(self.screen)
        else:
            self.screen.fill(FLOOR)
            image = self.things[self.held].image
            self.screen.blit(pygame.transform.scale(image, self.screen.get_size()), (0, 0))
            self.screen.blit(self.agent.image, self.agent.image.get_rect(center=(200, 200)))
        small = pygame.transform.smoothscale(self.screen, SCREEN)
        return np.ascontiguousarray(pygame.surfarray.array3d(small).swapaxes(0, 1))


def play_pygame(game: PygameBoxman, n_steps: int) -> None:
    """One game after the other, with random actions."""
    rng = np.random.default_rng(0)
    actions = rng.integers(game.world.space.n_actions, size=n_steps).tolist()
    game.reset(rng)
    for action in actions:
        if game.step(action)[2]:
            game.reset(rng)


def play_batch(batch: VectorBoxman, n_steps: int) -> None:
    """Many games at once, with random actions; every step paints every game."""
    n_actions = batch.world.space.n_actions
    actions = np.random.default_rng(0).integers(n_actions, size=(n_steps, batch.num_envs))
    batch.reset(seed=0)
    for row in actions:
        batch.step(row)


def rendered_steps(report: Report, n_steps: int = 400) -> None:
    """Steps a second, each with its frame, of all games together and of the usual single game.

    They take turns, so that a busy machine slows both alike, and the best of each counts.
    """
    world = Boxman("blue ^ square", layout="random")
    game, sparing = PygameBoxman(world), PygameBoxman(world, walls_once=True)
    many = world.vector(N_GAMES)
    turns = [
        (
            best_time(lambda: play_pygame(game, n_steps), 1),
            best_time(lambda: play_pygame(sparing, n_steps), 1),
            best_time(lambda: play_batch(many, n_steps), 3),
        )
        for _ in range(7)
    ]
    single, spared, batch = (n_steps / min(times) for times in zip(*turns, strict=True))
    batch *= N_GAMES
    report.note("one game with pygame, rendered steps a second", single, "/s")
    report.note("the same with the walls drawn once", spared, "/s")
    report.note(f"{N_GAMES} games at once, rendered steps a second", batch, "/s")
    report.at_least(f"{N_GAMES} games at once / one game with pygame", batch / single, 200)


def decisions(report: Report, n_observations: int) -> None:
    """XOR over two networks, one a base task, against one bare pass of each; weights do not matter.

    The networks are those of our own recipe.  Bounds and composition come on top of the passes.
    """
    world = Boxman(layout="random")
    settings = FAST.settings
    head, shape = head_of(settings), world.observation_space.shape
    goals = world.sprites.frames
    reaches = []
    for _ in range(2):
        network = make_network(FAST.network, shape, world.space.n_actions, head.n_outputs)
        n_goals = world.space.n_goals
        reaches.append(
            NetworkReach(network, head, goals, np.arange(n_goals), n_goals, np.zeros(n_goals))
        )
    names = ("blue", "square")
    tasks = {name: world.tasks[name] for name in names}
    rewards = np.stack([task.goal_reward for task in tasks.values()])
    family = NetworkFamily.of(
        world.space, tasks, FAST.network, settings, tuple(reaches), rewards, shared=True
    )
    agent = Skills(family, world)["blue ^ square"]
    observations, _ = world.vector(n_observations).reset(seed=0)
    states, seen = torch.from_numpy(observations), torch.from_numpy(goals)

    def passes() -> None:
        with torch.no_grad():
            for reach in reaches:
                reach.network(states, seen)

    torch.set_num_threads(1)  # two threads that wait for each other are timed unsteadily
    composed, bare = [], []
    for _ in range(30):  # taking turns, so that a busy machine slows both alike
        composed.append(best_time(lambda: agent.policy.actions(observations), 3))
        bare.append(best_time(passes, 3))
    what = f"XOR of two networks, {n_observations} observation{'s' * (n_observations > 1)}"
    report.note(f"{what}: a decision", min(composed) * 1e3, "ms")
    report.at_most(f"{what}: / one pass of each", min(composed) / min(bare), 1.3)


def training_memory(report: Report, name: str) -> None:
    """The largest memory of a training at full size: replay filled, scored, saved."""
    with tempfile.TemporaryDirectory() as folder:
        code = (
            "import sys, resource; import taskalgebra as ta; "
            "from taskalgebra.envs.boxman.recipes import RECIPES; "
            "recipe = RECIPES[sys.argv[2]]; "
            "learner = ta.DeepQ(recipe.learner.network, settings=recipe.learner.settings, "
            "n_updates=100, updates_per_iteration=50, learning_starts=300_000, "
            "epsilon_steps=1_000); "
            "ta.learn(ta.Boxman(**recipe.world), recipe.tasks[:1], learner=learner, "
            "folder=sys.argv[1]); "
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, folder, name], check=True, capture_output=True, text=True
        )
    what = f"{name}: training memory, replay of 300,000 full"
    report.at_most(what, int(done.stdout) / 1e6, 1.5, " GB")


def main() -> None:
    """Run all bars."""
    report = Report()
    rendered_steps(report)
    for n_observations in (1, 256):
        decisions(report, n_observations)
    for name in ("boxman-random", "boxman-paper"):
        training_memory(report, name)
    report.finish()


if __name__ == "__main__":
    main()
