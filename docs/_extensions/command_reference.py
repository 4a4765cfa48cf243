"""The directive `commands`: every command with its arguments, options and examples.

It reads the command line itself, so that the page says what `--help` says.
"""

import re
from collections.abc import Iterator

import typer
from docutils import nodes
from rich.text import Text
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from taskalgebra.cli.app import app as command_line

PROGRAM = "taskalgebra"


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """Ask the command line what it has."""
        group = typer.main.get_command(command_line)
        top = group.make_context(PROGRAM, [], resilient_parsing=True)
        sections: list[nodes.Node] = []
        for name in group.list_commands(top):
            command = group.get_command(top, name)
            context = command.make_context(name, [], parent=top, resilient_parsing=True)
            section = nodes.section(ids=[f"{PROGRAM}-{name}"], names=[f"{PROGRAM} {name}"])
            section += nodes.title("", "", nodes.literal(text=f"{PROGRAM} {name}"))
            section += _paragraphs(command.help or "")
            section += _shell(f"{PROGRAM} {name} {' '.join(command.collect_usage_pieces(context))}")
            section += _options(command, context)
            section += _examples(command.epilog or "")
            sections.append(section)
        return sections


def _plain(text: str) -> str:
    """Text without the markup of the terminal."""
    return Text.from_markup(text).plain


def _paragraphs(text: str) -> list[nodes.Node]:
    parts = re.split(r"\n\s*\n", _plain(text).replace("\b", "").strip())
    return [nodes.paragraph("", "", *_inline(" ".join(part.split()))) for part in parts]


def _inline(text: str) -> Iterator[nodes.Node]:
    """What stands in backquotes is code, and so are options."""
    for part in re.split(r"(`[^`]+`|(?<!\S)--[a-z-]+)", text):
        code = part.startswith(("`", "--"))
        if part:
            yield nodes.literal(text=part.strip("`")) if code else nodes.Text(part)


def _shell(line: str) -> nodes.Node:
    return nodes.literal_block(line, line, language="text", classes=["command"])


def _options(command: typer.core.TyperCommand, context: typer.Context) -> list[nodes.Node]:
    items = nodes.definition_list()
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is None or "--help" in parameter.opts:
            continue
        name, text = record
        value = parameter.get_default(context)
        if value and value is not True and "default" not in text:
            text = f"{text} By default {value}."
        items += nodes.definition_list_item(
            "",
            nodes.term("", "", nodes.literal(text=name.strip())),
            nodes.definition("", *_paragraphs(text)),
        )
    return [items]


def _examples(epilog: str) -> list[nodes.Node]:
    """A block of commands, each below a comment that says what it does."""
    parts = [
        " ".join(part.split()) for part in re.split(r"\n\s*\n", _plain(epilog)) if part.strip()
    ]
    lines: list[str] = []
    for part in parts[1:]:  # the first is a heading
        if part.startswith(PROGRAM):
            lines += ["", part]
        else:
            lines.insert(-1, f"# {part}")
    text = "\n".join(lines).strip()
    return [nodes.literal_block(text, text, language="bash")] if lines else []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
