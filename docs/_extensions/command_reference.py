"""The directive `commands`: every command with its arguments, options and examples.

It reads the commands themselves, so that the page says what `--help` says.
"""

import re
from collections.abc import Iterator

import typer
from docutils import nodes
from rich.text import Text
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import ExtensionMetadata

from taskalgebra.apps.cli.app import app as command_line

PROGRAM = "taskalgebra"
USAGE = re.compile(r"\[(\[.*?\](?:\.\.\.)?)\]|\{(?=EXPR)|(?<=EXPR)\}")  # redundant brackets


class Commands(SphinxDirective):
    """A section for each command."""

    def run(self) -> list[nodes.Node]:
        """List the commands."""
        group = typer.main.get_command(command_line)
        top = group.make_context(PROGRAM, [], resilient_parsing=True)
        sections: list[nodes.Node] = []
        for name in group.list_commands(top):
            command = group.get_command(top, name)
            context = command.make_context(name, [], parent=top, resilient_parsing=True)
            section = nodes.section(ids=[f"{PROGRAM}-{name}"], names=[f"{PROGRAM} {name}"])
            section += nodes.title("", "", nodes.literal(text=f"{PROGRAM} {name}"))
            section += _paragraphs(command.help or "")
            usage = USAGE.sub(r"\1", " ".join(command.collect_usage_pieces(context)))
            section += _shell(f"{PROGRAM} {name} {usage}")
            section += _options(command, context)
            section += _examples(command.epilog or "")
            sections.append(section)
        return sections


def _paragraphs(text: str) -> list[nodes.Node]:
    parts = re.split(r"\n\s*\n", text.replace("\b", "").strip())
    return [nodes.paragraph("", "", *_inline(" ".join(part.split()))) for part in parts]


def _inline(text: str) -> Iterator[nodes.Node]:
    """Text in backquotes is code, and so are options."""
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
        name = re.sub(r"<int[^>]*>", "N", record[0]).partition("<")[0].strip()
        text, _, notes = record[1].partition("  [")
        default = re.search(r"default: ([^;\]]+)", notes)
        items += nodes.definition_list_item(
            "",
            nodes.term("", "", nodes.literal(text=name)),
            nodes.definition(
                "", *_paragraphs(f"{text} By default {default[1]}." if default else text)
            ),
        )
    return [items]


def _examples(epilog: str) -> list[nodes.Node]:
    """A block of commands, each below a comment that says what it does."""
    plain = [line.strip() for line in Text.from_markup(epilog).plain.splitlines() if line.strip()]
    lines: list[str] = []
    for line in plain[1:]:  # the first is a heading
        if line.startswith(PROGRAM):
            lines += ["", line]
        else:
            lines.insert(-1, f"# {line}")
    text = "\n".join(lines).strip()
    return [nodes.literal_block(text, text, language="bash")] if lines else []


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
