"""Results as tables: what the page shows beside its figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from taskalgebra.paper.report.markup import Markup, table, tag
from taskalgebra.paper.results.labels import FIXED, PRINTED, RANDOM, TOUCH
from taskalgebra.paper.results.provenance import Made
from taskalgebra.paper.results.record import Result, load

SETTINGS = {FIXED: "figure-6", RANDOM: "random-objects", TOUCH: "figure-14"}
"""The setting of Boxman: the section that shows its returns."""
ITEMS = {
    "Theorem 1": "tasks obey the laws of a Boolean algebra",
    "Definition 3": "planned extended values are those of value iteration",
    "Lemma 1": "values are the largest extended ones over goals",
    "Lemma 2": "the best way to a goal is the same for all tasks",
    "Corollary 1": "so is its return",
    "Theorem 2": "extended values obey the laws of a Boolean algebra",
    "Theorem 3": "¬, ∨, ∧ and xor of values are the values of ¬, ∨, ∧ and xor",
    "Corollary 2": "all 16 expressions over two base tasks are planned and composed alike",
}


def theorems(result: Result) -> Markup:
    """How many equations were checked, and how many hold."""
    places = sorted(result.table.distinct("place"), key=lambda place: place == PRINTED)
    rows = []
    for item, words in ITEMS.items():
        counts = dict.fromkeys(places, "–")
        for row in result.table.where(item=item).rows():
            counts[row["place"]] = f"{row['equations'] - row['broken']:,} of {row['equations']:,}"
        rows.append({"item": item, "what is compared": words, **counts})
    caption = "Equations that hold, of those checked on exact tables"
    return table(rows, caption=caption, words=["what is compared"])


def returns(result: Result, setting: str) -> Markup:
    """What each task earned, beside the optimum."""
    found = result.table.where(setting=setting).rows()
    exact = any(row["score_of_exact"] < 1 for row in found)
    rows = []
    for row in found:
        low, high = row["mean_low"], row["mean_high"]
        rows.append(
            {
                "task": row["task"],
                "mean return": f"{row['mean']:.3f}",
                "95 % interval": "exact" if low == high else f"{low:.3f} to {high:.3f}",
                "optimum": f"{row['optimum']:.3f}",
                **({"exact composition": f"{row['exact_composition']:.3f}"} if exact else {}),
                "success": f"{100 * row['success']:.1f} %",
                "optimal episodes": f"{row['optimal_episodes']:,} of {row['episodes']:,}",
            }
        )
    return table(rows, caption="Returns of composed networks")


def baselines(result: Result) -> Markup:
    """The algebra beside other methods, over all 16 tasks of Four Rooms."""
    rows = []
    for method in result.table.distinct("method"):
        all_rows = result.table.where(method=method)
        able = all_rows.where(expressible=1)
        optimal = int((able["optimal_runs"] == able["runs"]).sum())
        ties = 100 * float(able["random_ties_failure_rate"].mean())
        rows.append(
            {
                "method": method,
                "tables": all_rows["n_tables"][0],
                "numbers": f"{all_rows['n_entries'][0]:,}",
                "samples": f"{all_rows['samples'][0]:,.0f}",
                "tasks it can express": f"{able.n_rows} of {all_rows.n_rows}",
                "of these optimal": optimal,
                "failures": f"{100 * able['failure_rate'].mean():.1f} %",
                "failures, ties at random": f"{ties:.1f} %",
                "worst loss": f"{able['worst_gap'].max() + 0.0:.2f}",
            }
        )
    caption = f"Methods on the 16 tasks of Four Rooms, {result.config['runs']} runs"
    return table(rows, caption=caption, class_="dense")


def temperatures(result: Result) -> Markup:
    """What methods with a temperature lose, with exact tables."""
    found = result.tables["baselines_temperature"]
    rows = []
    for method in found.distinct("method"):
        for row in found.where(method=method).rows():
            rows.append(
                {
                    "method": method,
                    "temperature": f"{row['temperature']:g}",
                    "optimal": f"{row['optimal']} of {row['tasks']}",
                    "failures": f"{100 * row['failure_rate']:.1f} %",
                    "mean loss": f"{row['gap'] + 0.0:.3f}",
                    "worst loss": f"{row['worst_gap'] + 0.0:.2f}",
                }
            )
    return table(rows, caption="What a temperature costs, with exact tables", class_="dense")


def baselines_forty(result: Result) -> Markup:
    """The algebra beside other methods, with 40 goals."""
    rows = []
    for method in result.table.distinct("method"):
        own = result.table.where(method=method)
        first = own.rows()[0]
        cells = {
            "method": method,
            "tables": first["n_tables"],
            "numbers": f"{first['n_entries']:,}",
            "samples": f"{first['samples']:,.0f}",
        }
        for row in own.rows():
            able = row["expressible"]
            lost = f"{able - row['optimal']}, worst {row['worst_gap']:.2f}" if able else "–"
            lost = "none" if able and row["optimal"] == able else lost
            cells[f"{row['kind']}: can"] = f"{able} of {row['tasks']}"
            cells[f"{row['kind']}: not optimal"] = lost
        rows.append(cells)
    caption = f"Methods on 40 goals of Four Rooms; runs of each: {result.config['runs']}"
    return table(rows, caption=caption, class_="dense")


def networks(directory: Path) -> list[Markup]:
    """Training seeds and undone changes, where they were measured."""
    tables = []
    for name, title in (
        ("boxman_seeds", "The fast preset"),
        ("boxman_paper_seeds", "The paper's own network"),
    ):
        if (result := _maybe(name, directory)) is not None:
            rows = [
                {
                    "seed": row["seed"],
                    "gradient steps": f"{row['updates']:,}",
                    "time": f"{row['seconds']:,.0f} s",
                    "worst of 5 tasks": f"{row['five_worst_score']:.4f}",
                    "worst of 63 tasks": f"{row['all_worst_score']:.4f}".replace("nan", "–"),
                }
                for row in result.table.rows()
            ]
            tables.append(table(rows, caption=f"{title}; seeds: {len(rows)}"))
    if (result := _maybe("boxman_paper_changes", directory)) is not None:
        rows = [
            {
                "change undone": row["undone"],
                "last score": f"{row['last_score']:.2f}",
                "best score": f"{row['best_score']:.2f}",
            }
            for row in result.table.rows()
        ]
        undone = result.table["undone"].tolist()
        runs = max(map(undone.count, undone), default=0)
        caption = "The paper's network with single changes of ours undone, task blue; "
        caption += f"runs of each: {runs}"
        tables.append(table(rows, caption=caption))
    return tables


def _maybe(name: str, directory: Path) -> Result | None:
    try:
        return load(name, directory)
    except FileNotFoundError:
        return None


def times(title: str, results: Mapping[str, Result], made: Mapping[str, Made]) -> Markup:
    """How long each part took, and its configuration."""
    configs = {name: result.config for name, result in results.items()} | {"figures": {}}
    found = {name: made[name] for name in configs if name in made}
    total = tag("strong", "together")
    rows = []
    for part, config in (configs | {total: {}}).items():
        taken = list(found.values()) if part is total else [found[part]] if part in found else []
        words = [f"{key} {_short(value)}" for key, value in config.items() if key != "skills"]
        rows.append(
            {
                "part": part,
                "time": f"{sum(m.seconds for m in taken):.1f} s" if taken else "not recorded",
                "CPU time": f"{sum(m.cpu_seconds for m in taken):.1f} s" if taken else "",
                "configuration": ", ".join(words),
            }
        )
    return table(rows, caption=title, words=["configuration"], class_="stacks labels")


def _short(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
