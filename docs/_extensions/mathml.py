"""Formulas as MathML, which browsers draw without scripts, fonts or a network."""

from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util.typing import ExtensionMetadata

BAR = "\u02c9"  # as \bar gives it
FLAT = {"{", "}", "⌈", "⌉"}


def mathml(tex: str, *, block: bool) -> str:
    """A formula, with the indices of barred letters beside them and braces as tall as a line."""
    text = tex2mathml(tex, as_block=block).replace("&ApplyFunction;", "\u2061")
    formula = ElementTree.fromstring(
        text.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', "")
    )
    for element in list(formula.iter()):
        if element.tag == "munderover" and element[2].text == BAR:
            letter, index, bar = element
            barred = ElementTree.Element("mover", accent="true")
            barred.extend([letter, bar])
            element[:] = [barred, index]
            element.tag = "msub"
        elif element.tag == "munder" and element[0].tag == "mover":
            element.tag = "msub"
        elif element.tag == "mo" and element.text in FLAT and "rspace" not in element.attrib:
            element.set("stretchy", "false")  # one with rspace opens cases, and stays tall
        elif element.tag == "mo" and element.text == "*":
            element.text = "∗"  # the plain asterisk is already raised
    return ElementTree.tostring(formula, encoding="unicode")


def _inline(translator: Any, node: nodes.math) -> None:
    translator.body.append(mathml(node.astext(), block=False))
    raise nodes.SkipNode


def _block(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(f'<div class="math">{mathml(node.astext(), block=True)}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the renderer `mathml`."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
