"""The report, made from the shipped results: complete, true to the claims, and one file."""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from taskalgebra.baselines.catalogue import ALL as BASELINES
from taskalgebra.baselines.catalogue import SOFT
from taskalgebra.baselines.plain import FromScratch
from taskalgebra.paper import report
from taskalgebra.paper.catalogue import FIGURES, MAIN, SUPPLEMENT, find
from taskalgebra.paper.experiments.suite import EXPERIMENTS as ALL
from taskalgebra.paper.report import paper
from taskalgebra.paper.report.page import build
from taskalgebra.paper.reproduce import figures_of

ROOT = Path(__file__).parents[3]
RESULTS = ROOT / "results"
EXPERIMENTS = {
    half: [name for name, experiment in ALL.items() if experiment.half == half]
    for half in ("tabular", "deep")
}
VOID = {"meta", "img", "br"}
HEADINGS = ["h1", "h2", "h3", "h4"]


class Element:
    """A tag with its attributes and all the text in it."""

    def __init__(self, tag, attributes, parents):
        self.tag, self.attributes, self.parents = tag, dict(attributes), parents
        self.text = ""


class Reader(HTMLParser):
    """Reads a page into elements; complains where tags do not match."""

    def __init__(self):
        super().__init__()
        self.elements, self.open, self.wrong = [], [], []

    def handle_starttag(self, tag, attributes):
        names = [name for name, _ in attributes]
        if len(names) != len(set(names)):
            self.wrong.append(f"<{tag}> says {names} twice")
        element = Element(tag, attributes, list(self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag):
        if not self.open or self.open[-1].tag != tag:
            self.wrong.append(f"</{tag}> in {[e.tag for e in self.open]}")
        else:
            self.open.pop()

    def handle_data(self, data):
        for element in self.open:
            element.text += data

    def all(self, tag):
        return [element for element in self.elements if element.tag == tag]


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@pytest.fixture(scope="module")
def html():
    return build(RESULTS, EXPERIMENTS)


@pytest.fixture(scope="module")
def page(html):
    return read(html)


@pytest.fixture(scope="module")
def claims():
    return [
        claim
        for half in EXPERIMENTS
        for claim in json.loads((RESULTS / half / "claims.json").read_text(encoding="utf-8"))
    ]


def words(text):
    """Text without spaces and marks of sub- and superscripts and code, to compare."""
    return re.sub(r"[\s_^()`]", "", text)


def test_tags_match_and_ids_are_unique(page):
    assert page.wrong == [] and page.open == []
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))


def test_links_lead_somewhere_and_only_the_citation_leads_out(page):
    ids = {e.attributes.get("id") for e in page.elements}
    out = set()
    for link in page.all("a"):
        target = link.attributes["href"]
        if target.startswith("#"):
            assert target[1:] in ids, target
        else:
            out.add(target)
    assert out == {"https://arxiv.org/abs/2001.01394"}


def test_it_is_one_file_without_scripts_that_loads_nothing(page, html):
    assert not {e.tag for e in page.elements} & {"script", "link", "iframe", "object", "video"}
    for element in page.elements:
        assert not [name for name in element.attributes if name.startswith("on")]
        assert element.attributes.get("src", "data:").startswith("data:")
    style = page.all("style")[0].text
    assert "url(" not in style and "@import" not in style
    assert "http" not in re.sub(
        r"https://arxiv\.org/abs/2001\.01394",
        "",
        re.sub(r"http-equiv", "", re.sub(r'"data:[^"]*"', "", html)),
    )
    assert len(html) < 12_000_000


def test_landmarks_headings_and_language(page):
    assert page.all("html")[0].attributes["lang"] == "en"
    for tag in ("main", "nav", "header", "footer", "h1", "title"):
        assert len(page.all(tag)) == 1, tag
    depth = 0
    for element in page.elements:
        if element.tag in HEADINGS:
            level = HEADINGS.index(element.tag) + 1
            assert level <= depth + 1, element.text
            depth = level
            assert element.text.strip()


def test_images_are_described_and_have_their_size(page):
    for image in page.all("img"):
        assert len(image.attributes["alt"]) > 30
        assert int(image.attributes["width"]) > 100 and int(image.attributes["height"]) > 100
    for region in page.elements:
        if "aria-labelledby" in region.attributes:
            ids = {e.attributes.get("id") for e in page.elements}
            assert region.attributes["aria-labelledby"] in ids


def test_tables_have_captions_and_headings_with_a_scope(page):
    assert len(page.all("caption")) == len(page.all("table")) >= 8
    assert all(heading.attributes["scope"] in ("row", "col") for heading in page.all("th"))


@pytest.mark.parametrize("number", range(1, 17))
def test_every_figure_of_the_paper_has_a_section_with_a_picture_and_a_claim(page, number):
    """There are 16: 6 in the paper, 10 in the supplement, numbered consecutively."""
    found = [
        figure
        for figure in FIGURES
        if any(re.fullmatch(rf"figure_{number}[a-z]?", name) for name in figure.numbers)
    ]
    assert found, number
    for section in found:
        inside = [
            e for e in page.elements if any(p.attributes.get("id") == section.id for p in e.parents)
        ]
        assert any(e.tag == "img" for e in inside)
        assert any("claim" in e.attributes.get("class", "").split() for e in inside)
    assert find(f"figure-{number}") == [
        p.name for section in found for p in section.pictures if not p.film
    ]


HALVES = {"tabular": "### Four Rooms", "deep": "### Boxman"}


def test_every_figure_and_film_that_is_shipped_is_shown(html):
    shown = [picture for figure in FIGURES for picture in figure.pictures]
    files = {f"{picture.name}.{ending}" for picture in shown for ending in picture.endings}
    shipped = [path.name for half in HALVES for path in (RESULTS / half).glob("figures/*")]
    assert sorted(files) == sorted(shipped)
    assert html.count("<img ") == len(shown)
    assert all(picture.alt in unescape(html) for picture in shown)


@pytest.mark.parametrize("half", HALVES)
def test_the_documented_table_is_that_of_the_records(half):
    """A row for each picture: where it stands in the paper, the command, and the file."""
    text = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
    table = text.split(HALVES[half])[1].split("\n#")[0]
    rows = re.findall(r"^\| (.+?) \| .+ \| `(\S+)` \| `(\w+)\.(\w+)` \|$", table, re.MULTILINE)
    known = {name: figure for figure in FIGURES for name in figure.names}
    assert {name for _, _, name, _ in rows} == set(figures_of(half)[half])
    assert len(rows) == len({name for _, _, name, _ in rows})
    for place, command, name, ending in rows:
        figure = known[name]
        (picture,) = [p for p in figure.pictures if p.name == name]
        assert find(command) == [name] and ending == picture.endings[0]
        if place.startswith("Fig. "):
            assert figure in MAIN and figure.place == f"Figure {place.removeprefix('Fig. ')}"
        else:
            assert (figure in SUPPLEMENT) == (place == "Supplement") or picture.film


def test_the_verdict_table_is_that_of_the_claims(page, claims):
    (table,) = [t for t in page.all("table") if "verdicts" in t.attributes.get("class", "")]
    rows = [e for e in page.all("tr") if table in e.parents and "scope" not in e.attributes][1:]
    assert len(rows) == len(claims)
    shown = []
    for row in rows:
        inside = [e for e in page.elements if row in e.parents]
        (badge,) = [e for e in inside if "badge" in e.attributes.get("class", "")]
        (place,) = [e for e in inside if e.tag == "th"]
        said = [e.text for e in inside if e.tag == "p"]
        reason = said[1] if len(said) > 1 else ""
        verdict = badge.text.split(maxsplit=1)[1]
        shown.append((place.text, words(said[0]), words(reason), verdict))
    expected = [(c["where"], words(c["claim"]), words(c["reason"]), c["verdict"]) for c in claims]
    assert sorted(shown) == sorted(expected)
    places = [place for place, _, _, _ in shown]
    order = ["Theorem 1", "Fig. 1", "Fig. 4", "Supplement, Fig. 8", "Supplement, Fig. 14"]
    assert [place for place in places if place in order] == order
    assert [place.startswith("Ours") for place in places] == sorted(
        place.startswith("Ours") for place in places
    )


def test_every_claim_is_shown_with_what_was_measured(page, claims):
    cards = [e for e in page.all("article") if "id" in e.attributes]
    assert len(cards) == len(claims)
    texts = [words(card.text) for card in cards]
    for claim in claims:
        assert any(
            words(claim["claim"]) in text and words(claim["measured"]) in text for text in texts
        )


def test_the_summary_counts_the_paper_s_claims_and_ours(page, claims):
    theirs = [c["verdict"] for c in claims if not c["where"].startswith("Ours")]
    counts = [int(e.text) for e in page.elements if e.attributes.get("class") == "count"]
    assert counts == [theirs.count(v) for v in ("holds", "holds in part", "does not hold")]
    lead = next(e.text for e in page.elements if e.attributes.get("class") == "lead")
    assert f"Of {len(theirs)} claims of the paper" in lead


def test_deviations_and_index_are_those_of_paper_md(page):
    source = (ROOT / "PAPER.md").read_text(encoding="utf-8")
    numbers = re.findall(r"(?m)^(\d+)\. \*\*", source)
    listed = [
        e for e in page.all("li") if any(p.attributes.get("id") == "deviations" for p in e.parents)
    ]
    assert [str(i + 1) for i in range(len(listed))] == numbers
    assert len(numbers) >= 16
    for item in listed:
        assert "**" not in item.text and "`" not in item.text
    assert len(paper.index(source)) == len(re.findall(r"(?m)^\| [^|]+ \| `taskalgebra", source))


def test_tables_of_deviations_are_tables_on_the_page(page):
    source = (ROOT / "PAPER.md").read_text(encoding="utf-8")
    (listed,) = page.all("ol")
    tables = [t for t in page.all("table") if listed in t.parents]
    items = [(text, rows) for text, rows in paper.deviations(source) if rows]
    assert [text.partition(".")[0] for text, _ in items] == [
        "**The network of Boxman",
        "**Bounds where tasks end in different states",
        "**Networks by touch",
        "**Dense rewards of the empty task",
    ]
    assert len(tables) == len(items)
    for table, (intro, rows) in zip(tables, items, strict=True):
        (item,) = [e for e in page.all("li") if e in table.parents]
        assert item.text.startswith(intro.strip("*").partition(".")[0])
        assert "|" not in item.text
        inside = [e for e in page.elements if table in e.parents]
        shown = [e.text for e in inside if e.tag in ("th", "td")]
        assert shown[: len(rows[0])] == list(rows[0])
        cells = [cell for row in rows for cell in row.values()]
        assert [words(text) for text in shown[len(rows[0]) :]] == [words(c) for c in cells]


def test_how_it_was_made_names_machine_versions_networks_and_times(page):
    (made,) = [e for e in page.elements if e.attributes.get("id") == "how-it-was-made"]
    skills = json.loads((RESULTS / "deep" / "boxman_returns.json").read_text())["config"]["skills"]
    for text in ("python 3.", "numpy", "cores", "seed 0", *skills.values(), *ALL):
        assert text in made.text, text
    assert "not recorded" not in made.text


def test_baselines_are_in_the_table(page):
    dense = [t for t in page.all("table") if "dense" in t.attributes.get("class", "")]
    sixteen, temperatures, forty = (
        {e.text for e in page.elements if table in e.parents and e.tag in ("th", "td")}
        for table in dense
    )
    for method in BASELINES:
        assert method.title in sixteen
        assert (method in SOFT) == (method.title in temperatures)
        assert (method is not FromScratch) == (method.title in forty)
    assert "0.02" in temperatures and "100 of 100" in forty


def luminance(colour):
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", [0, 1, 2], ids=["light", "dark", "print"])
def test_colours_can_be_read(page, scheme):
    """WCAG 2.2 AA: text has a contrast of at least 4.5 to what is behind it."""
    block = re.findall(r":root \{(.*?)\}", page.all("style")[0].text, re.DOTALL)[scheme]
    colours = {
        name: value if len(value) == 7 else "#" + "".join(2 * c for c in value[1:])
        for name, value in re.findall(r"--([\w-]+): (#\w+)", block)
    }
    pairs = [(ink, back) for ink in ("ink", "soft", "link") for back in ("paper", "card")]
    pairs += [(name, f"{name}-back") for name in ("holds", "part", "fails")]
    for ink, back in pairs:
        low, high = sorted((luminance(colours[ink]), luminance(colours[back])))
        assert (high + 0.05) / (low + 0.05) >= 4.5, (ink, back)


@pytest.fixture
def copy(tmp_path):
    """A copy of the shipped results, to be damaged."""
    shutil.copytree(RESULTS, tmp_path / "results", ignore=shutil.ignore_patterns("*.pdf"))
    return tmp_path / "results"


def test_it_is_written_whole_and_equal_results_give_equal_pages(copy, html):
    path = report.write(copy, copy.parent / "new" / "index.html", EXPERIMENTS)
    assert path.read_text(encoding="utf-8") == html
    assert [p.name for p in path.parent.iterdir()] == ["index.html"]


def test_everything_is_escaped(copy):
    path = copy / "tabular" / "claims.json"
    claims = json.loads(path.read_text(encoding="utf-8"))
    claims[0]["claim"] = claims[0]["measured"] = '<script>alert("&")</script> $style ${x}'
    path.write_text(json.dumps(claims), encoding="utf-8")
    page = read(build(copy, EXPERIMENTS))
    assert not page.all("script") and page.wrong == []
    assert '<script>alert("&")</script> $style ${x}' in page.all("article")[0].text


def test_without_provenance_times_are_said_to_be_unknown(copy):
    (copy / "tabular" / "provenance.json").write_text("[", encoding="utf-8")
    assert "not recorded" in build(copy, EXPERIMENTS)


@pytest.mark.parametrize(
    ("file", "content", "error", "says"),
    [
        ("tabular/claims.json", "{", ValueError, "claims.json is not a file of claims"),
        ("tabular/claims.json", '[{"where": "x"}]', ValueError, "is not a file of claims"),
        ("tabular/claims.json", None, FileNotFoundError, "claims.json"),
        ("tabular/baselines.csv", "method,task\na,b\n", ValueError, "damaged.*--fresh"),
        ("deep/boxman_returns.json", "{", ValueError, "boxman_returns.json.*--fresh"),
        ("deep/figures/figure_6_returns.png", "PNG", ValueError, "reproduce figure_6_returns"),
        ("deep/figures/all_63_tasks.png", None, FileNotFoundError, "reproduce all_63_tasks"),
    ],
)
def test_what_is_missing_or_damaged_is_named(copy, file, content, error, says):
    if content is None:
        (copy / file).unlink()
    else:
        (copy / file).write_text(content, encoding="utf-8")
    with pytest.raises(error, match=says):
        build(copy, EXPERIMENTS)


def test_paper_md_is_read_from_the_package_where_it_is_installed(tmp_path, monkeypatch):
    inside, beside = tmp_path / "package" / "PAPER.md", tmp_path / "PAPER.md"
    monkeypatch.setattr(paper, "PLACES", (inside, beside))
    with pytest.raises(FileNotFoundError, match=r"PAPER\.md is neither at"):
        paper.read()
    beside.write_text("clone", encoding="utf-8")
    assert paper.read() == "clone"
    inside.parent.mkdir()
    inside.write_text("installed", encoding="utf-8")
    assert paper.read() == "installed"
