"""Progress in a notebook: a bar under the cell, by a real kernel."""

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

HURRIED = """
import logging, time
from taskalgebra import progress
from taskalgebra.progress import Event, Meter

progress.PATIENCE = progress.TICK = 0.05
logged = []
progress.LOGGER.setLevel(logging.INFO)
progress.LOGGER.addFilter(lambda record: logged.append(record))
"""
WORK = """
with Meter("learning") as meter:
    time.sleep(0.3)
    meter(Event("<top>", 0.25))
    time.sleep(0.3)
    meter(Event("<top>", 0.5, n_goals=4, score=0.75))
    time.sleep(0.3)
print("done")
"""
QUICK = """
progress.PATIENCE = 60
with Meter("planning"):
    pass
assert not logged, logged
"""


class Watched(NotebookClient):
    """A client that keeps what cells display, as it is displayed."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.seen.append((cell_index, msg["msg_type"], msg["content"]))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def played():
    """A notebook that was run, and what its cells displayed meanwhile."""
    notebook = new_notebook(cells=[new_code_cell(code) for code in (HURRIED, WORK, QUICK)])
    client = Watched(notebook, timeout=120, kernel_name="python3")
    client.seen = []
    client.execute()
    return notebook, client.seen


def test_slow_work_shows_one_bar_that_is_written_over(played):
    _, seen = played
    assert {cell for cell, _, _ in seen} == {1}
    kinds = [kind for _, kind, _ in seen]
    assert kinds[0] == "display_data" and set(kinds[1:]) == {"update_display_data"}
    assert len({content["transient"]["display_id"] for _, _, content in seen}) == 1
    lines = [content["data"]["text/plain"] for _, _, content in seen]
    bars = [content["data"]["text/html"] for _, _, content in seen]
    assert "so far" in lines[0] and "value" not in bars[0]  # nothing is known of the share
    assert any(line.startswith("learning <top>: 25 %, about") for line in lines)
    assert any("value='0.250'" in bar and "&lt;top&gt;" in bar for bar in bars)
    assert lines[-2].endswith(", 4 goals met, score 0.750")


def test_nothing_is_left_of_it_but_what_the_cell_printed(played):
    notebook, _ = played
    nbformat.validate(notebook)
    bar, text = notebook.cells[1].outputs
    assert not any(bar["data"].values())
    assert text["text"] == "done\n"


def test_quick_work_shows_nothing_and_logs_nothing(played):
    notebook, _ = played
    assert notebook.cells[2].outputs == []
