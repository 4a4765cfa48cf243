"""The page: verdicts first, then every figure beside its claims, then how it was made."""

from __future__ import annotations

import base64
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files as resources
from pathlib import Path
from string import Template

from taskalgebra import files
from taskalgebra.paper.catalogue import FIGURES, MAIN, OURS, SUPPLEMENT, THEORY
from taskalgebra.paper.catalogue.figure import Figure, Picture
from taskalgebra.paper.claims import verdicts
from taskalgebra.paper.claims.verdicts import Claim, Verdict
from taskalgebra.paper.report import paper, tables
from taskalgebra.paper.report.markup import Markup, inline, join, maths, table, tag, text
from taskalgebra.paper.results import provenance
from taskalgebra.paper.results.record import Result, load

HALVES = {"tabular": "Theory and Four Rooms", "deep": "Boxman"}
MARKS = {Verdict.HOLDS: "✓", Verdict.PART: "◐", Verdict.FAILS: "✗"}
AGAINST = "claim, and what speaks against it"
SMALL = 1500
"""Pixels: a narrower figure is beside its claims, others above them."""


@dataclass(frozen=True)
class _Source:
    """What the page is made from."""

    directory: Path  # of results
    results: Mapping[str, Mapping[str, Result]]  # half: name: result
    claims: Sequence[tuple[str, Claim]]  # anchor, claim

    def result(self, name: str) -> Result:
        """A result by name."""
        return next(found[name] for found in self.results.values() if name in found)

    def of(self, section: Figure) -> list[tuple[str, Claim]]:
        """The claims that a section shows."""
        return [(at, c) for at, c in self.claims if set(c.figures) & set(section.names)]


def write(
    directory: Path, path: Path, experiments: Mapping[str, Sequence[str]], *, quick: bool = False
) -> Path:
    """Write the report.

    Args:
        directory: where `tabular/` and `deep/` are, with results, claims and figures.
        path: the file to write.
        experiments: the names of the results of each half.
        quick: say that all numbers are of toy size.

    Raises:
        FileNotFoundError: a result or a figure is missing.
        ValueError: a result is damaged.
    """
    html = build(directory, experiments, quick=quick)
    path.parent.mkdir(parents=True, exist_ok=True)
    files.replace(path, html.encode())
    return path


def build(directory: Path, experiments: Mapping[str, Sequence[str]], *, quick: bool = False) -> str:
    """The report as text; the arguments are those of `write`."""
    results = {
        half: {name: load(name, directory / half) for name in names}
        for half, names in experiments.items()
    }
    claims = [
        (f"{half}-{i + 1}", claim)
        for half in experiments
        for i, claim in enumerate(verdicts.load(directory / half))
    ]
    source = _Source(directory, results, claims)
    page = paper.read()
    try:
        parts = {
            "toy": _toy() if quick else "",
            "navigation": _navigation(),
            "summary": _summary(source),
            "verdicts": _verdict_table(source),
            "theory": _theory(source),
            "main": _sections(MAIN, source),
            "supplement": _sections(SUPPLEMENT, source),
            "ours": _sections(OURS, source) + join(tables.networks(directory / "deep")),
            "baselines": tables.baselines(source.result("baselines")),
            "temperatures": tables.temperatures(source.result("baselines")),
            "forty": tables.baselines_forty(source.result("baselines_forty")),
            "deviations": _deviations(page),
            "index": _index(page),
            "provenance": _provenance(source),
        }
    except KeyError as error:
        raise ValueError(
            f"a saved result in {directory} is damaged ({error.args[0]}); run again with --fresh"
        ) from error
    own = resources("taskalgebra.paper.report")
    style = (own / "style.css").read_text(encoding="utf-8")
    template = Template((own / "page.html").read_text(encoding="utf-8"))
    return template.substitute({"style": style, **{name: str(p) for name, p in parts.items()}})


def _toy() -> Markup:
    words = " These numbers come from a quick run. They show that all parts work, and say nothing "
    return tag("p", tag("strong", "Toy size."), words, "about the paper.", class_="toy")


def _navigation() -> Markup:
    places = {f.id: f.title if f in (THEORY, *OURS) else f.place for f in FIGURES}
    for title in ("Baselines", "Deviations", "Index", "How it was made"):
        places[title.lower().replace(" ", "-")] = title
    return tag("ul", *(tag("li", tag("a", p, href=f"#{at}")) for at, p in places.items()))


def _badge(verdict: Verdict) -> Markup:
    mark = tag("span", MARKS[verdict], aria_hidden="true")
    return tag("span", mark, " ", verdict.value, class_=f"badge {verdict.name.lower()}")


def _summary(source: _Source) -> Markup:
    theirs = Counter(claim.verdict for _, claim in source.claims if not claim.ours)
    own = Counter(claim.verdict for _, claim in source.claims if claim.ours)
    tiles = [
        tag("li", tag("span", theirs[verdict], class_="count"), " ", _badge(verdict))
        for verdict in Verdict
    ]
    whole, part, not_at_all = (verdict.counted(theirs[verdict]) for verdict in Verdict)
    words = (
        f"Of {theirs.total()} claims of the paper, {whole} as stated, {part} and {not_at_all}. "
        f"Of {own.total()} claims of our own, {Verdict.HOLDS.counted(own[Verdict.HOLDS])}."
    )
    return join([tag("p", words, class_="lead"), tag("ul", *tiles, class_="tiles")])


def _home(claim: Claim) -> str:
    """The section that shows a claim first."""
    shown = (figure.id for figure in FIGURES if set(claim.figures[:1]) & set(figure.names))
    return next(shown, THEORY.id)


def _verdict_table(source: _Source) -> Markup:
    """All claims in the order of the paper, ours last."""
    order = {figure.id: i for i, figure in enumerate(FIGURES)}
    rows = []
    for anchor, claim in sorted(source.claims, key=lambda c: (c[1].ours, order[_home(c[1])])):
        said = tag("p", maths(claim.claim))
        why = tag("p", maths(claim.reason), class_="reason") if claim.reason else ""
        place = tag("a", claim.where, href=f"#{_home(claim)}")
        verdict = tag("a", _badge(claim.verdict), href=f"#{anchor}")
        rows.append({"place": place, AGAINST: join([said, why]), "verdict": verdict})
    caption = "Every claim and its verdict"
    return table(rows, caption=caption, words=[AGAINST, "verdict"], class_="verdicts stacks")


def _claim(anchor: str, claim: Claim, level: str, *, again: bool = False) -> Markup:
    """A claim with what was measured; where it is shown again, it has no anchor."""
    facts = [tag("dt", "Measured"), tag("dd", maths(claim.measured))]
    if claim.reason:
        facts += [tag("dt", "Reason"), tag("dd", maths(claim.reason))]
    return tag(
        "article",
        tag(level, claim.where, " ", _badge(claim.verdict)),
        tag("p", maths(claim.claim)),
        tag("dl", *facts),
        id=None if again else anchor,
        class_=f"claim {claim.verdict.name.lower()}",
    )


def _theory(source: _Source) -> Markup:
    claims = [(anchor, claim) for anchor, claim in source.claims if not claim.figures]
    cards = tag("div", *(_claim(at, claim, "h3") for at, claim in claims), class_="claims")
    words = tag("p", maths(THEORY.words))
    return join([words, cards, tables.theorems(source.result("theorems"))])


def _sections(figures: Sequence[Figure], source: _Source) -> Markup:
    return join(_section(figure, source) for figure in figures)


def _section(section: Figure, source: _Source) -> Markup:
    claims = source.of(section)
    cards = [_claim(at, c, "h4", again=_home(c) != section.id) for at, c in claims]
    stills = [_picture(p, source.directory) for p in section.pictures if not p.film]
    films = [_picture(p, source.directory) for p in section.pictures if p.film]
    setting = next((s for s, home in tables.SETTINGS.items() if home == section.id), None)
    more = [tables.returns(source.result("boxman_returns"), setting)] if setting else []
    width, _ = _size(_find(section.pictures[0], source.directory))
    shape = "beside" if width < SMALL else "stacked"
    return tag(
        "section",
        tag("h3", f"{section.place}. {section.title}", id=f"{section.id}-title"),
        tag("p", maths(section.words)),
        tag("div", *stills, tag("div", *cards, class_="claims"), class_=shape),
        *films,
        *more,
        tag("p", tag("a", "All verdicts", href="#verdicts"), class_="back"),
        id=section.id,
        aria_labelledby=f"{section.id}-title",
    )


def _find(picture: Picture, directory: Path) -> Path:
    """The file of a picture, in either half."""
    name = picture.name
    for path in directory.glob(f"*/figures/{name}.{picture.endings[0]}"):
        return path
    raise FileNotFoundError(
        f"the figure {name} is not in {directory}; draw it with: taskalgebra reproduce {name}"
    )


def _size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG or a GIF, from its first bytes."""
    with path.open("rb") as file:
        data = file.read(24)
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) == 24:
        form, start = ">II", 16
    elif data[:4] == b"GIF8" and len(data) == 24:
        form, start = "<HH", 6
    else:
        again = f"taskalgebra reproduce {path.stem}"
        raise ValueError(f"{path} is neither a PNG nor a GIF; draw it again with: {again}")
    width, height = struct.unpack_from(form, data, start)
    return width, height


def _picture(picture: Picture, directory: Path) -> Markup:
    path = _find(picture, directory)
    width, height = map(str, _size(path))
    data = base64.b64encode(path.read_bytes()).decode()
    source = f"data:image/{picture.endings[0]};base64,{data}"
    image = tag("img", src=source, alt=picture.alt, width=width, height=height)
    if picture.film:
        return tag("details", tag("summary", "Film of the composed agent"), image, class_="film")
    box = tag("div", image, class_="scroll", role="group", aria_label="Figure", tabindex="0")
    return tag("figure", box, tag("figcaption", f"Redrawn from our results: {path.name}"))


def _deviations(page: str) -> Markup:
    items = []
    for number, (words, rows) in enumerate(paper.deviations(page), start=1):
        caption = f"Deviation {number}, point by point"
        items.append(tag("li", inline(words), _words(rows, caption, "labels") if rows else ""))
    return tag("ol", *items)


def _index(page: str) -> Markup:
    caption = "The paper, item by item: what implements it and what tests it"
    return _words(paper.index(page), caption, "index")


def _words(rows: paper.Rows, caption: str, class_: str) -> Markup:
    """A table of PAPER.md."""
    cells = [{column: inline(cell) for column, cell in row.items()} for row in rows]
    return table(cells, caption=caption, words=list(rows[0]), class_=f"{class_} stacks")


def _provenance(source: _Source) -> Markup:
    parts: list[object] = []
    found: dict[str, list[str]] = {"Machine": [], "Versions": []}
    for half, results in source.results.items():
        made = provenance.load(source.directory / half)
        parts.append(tables.times(f"{HALVES[half]}: time and configuration", results, made))
        for entry in made.values():
            words = ", ".join(f"{name} {number}" for name, number in entry.versions.items())
            found["Machine"].append(entry.machine)
            found["Versions"].append(words)
    facts = []
    for title, items in found.items():
        facts.append(tag("dt", title))
        facts += [tag("dd", item) for item in dict.fromkeys(items) or ["not recorded"]]
    skills = source.result("boxman_returns").config.get("skills", {})
    facts.append(tag("dt", "Networks, by SHA-256"))
    facts += [tag("dd", f"{name}: ", tag("code", text(digest))) for name, digest in skills.items()]
    return join([tag("dl", *facts, class_="facts"), *parts])
