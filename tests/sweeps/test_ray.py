"""Sweeps on Ray: two machines, as two nodes on the loopback interface of this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import sweep_cells

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_health_check_period_ms"] = "500"  # so that a lost node is soon known to be
os.environ["RAY_health_check_failure_threshold"] = "3"
ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'taskalgebra[cluster]'")

from ray.cluster_utils import Cluster  # noqa: E402

from taskalgebra.paper.experiments import optimal_sixteen  # noqa: E402
from taskalgebra.sweeps import on_ray  # noqa: E402
from taskalgebra.sweeps.cells import Cell, CellError, LostError  # noqa: E402
from taskalgebra.sweeps.on_ray import Ray, one_machine  # noqa: E402
from taskalgebra.sweeps.processes import ONE_THREAD  # noqa: E402
from taskalgebra.sweeps.running import Sweep, run  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def cluster():
    with one_machine():
        head = {"num_cpus": 1, "include_dashboard": False}
        made = Cluster(initialize_head=True, head_node_args=head)
        made.add_node(num_cpus=1)
        yield made
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="module")
def engine(cluster):
    with Ray(cluster.address) as found:
        yield found


def test_two_machines_share_a_sweep(engine, tmp_path):
    cells = [Cell(sweep_cells.slow, x) for x in range(16)]
    assert engine.workers == 2
    assert run(cells, engine, keep=tmp_path) == list(range(16))
    where = [json.loads(path.read_text())["where"] for path in tmp_path.glob("*/*.json")]
    nodes = {each.rpartition(" ")[2] for each in where}
    assert len(where) == 16
    assert nodes == {node["NodeID"] for node in ray.nodes() if node["Alive"]}
    assert len(nodes) == 2


LISTENING = """
import psutil, ray
from taskalgebra.sweeps.on_ray import Ray

with Ray(workers=1):
    me = psutil.Process()
    for process in me, *me.children(recursive=True):
        for one in process.net_connections(kind="inet"):
            if one.status == "LISTEN":
                print(one.laddr.ip)
"""


def test_machines_that_join_a_cluster_get_cells(engine, monkeypatch):
    begun, begin = [], engine._begin

    def counted(*of):
        begun.append(of)
        return begin(*of)

    left, finished = [1, 1], []
    monkeypatch.setattr(on_ray, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(engine, "_begin", counted)
    monkeypatch.setattr(engine, "_cores", lambda: left.pop() if left else 4)
    outcomes = engine.outcomes([Cell(sweep_cells.slow, x) for x in range(20)])
    flying = [len(begun) - len(finished) for found in outcomes if not finished.append(found)]
    assert len(finished) == 20
    assert max(flying) > 2  # two cells for the one core of the beginning


def test_another_cluster_than_the_one_that_was_asked_for_gets_no_cells(engine):
    with pytest.raises(
        LostError, match=r"connected to the Ray at .*, not to that at 127\.0\.0\.1:1"
    ):
        run([Cell(abs, -1)], Ray("127.0.0.1:1"))
    with Ray(engine.address) as same:
        assert run([Cell(abs, -1)], same) == [1]


def test_it_listens_on_the_loopback_interface_only():
    """Where Ray was imported before, too: it reads its variables when it is imported."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("RAY_")}
    asked = {"capture_output": True, "text": True, "env": environment}
    found = subprocess.run([sys.executable, "-c", LISTENING], check=True, **asked).stdout.split()
    assert len(found) > 3
    assert {each.removeprefix("::ffff:") for each in found} == {"127.0.0.1"}


def test_a_ray_that_listens_elsewhere_is_stopped():
    stopped = []
    elsewhere = SimpleNamespace(
        nodes=lambda: [{"NodeManagerAddress": "192.0.2.1"}], shutdown=lambda: stopped.append(True)
    )
    with pytest.raises(LostError, match=r"listened on 192\.0\.2\.1 and not on the loopback"):
        Ray()._require_loopback(elsewhere)
    assert stopped


def test_results_are_those_of_one_process(engine):
    config = optimal_sixteen.QUICK
    assert optimal_sixteen.run(config, Sweep(engine)) == optimal_sixteen.run(config)


def test_workers_have_one_thread_each(engine):
    assert run([Cell(sweep_cells.variables, tuple(ONE_THREAD))], engine) == [ONE_THREAD]


def test_a_killed_worker_is_replaced(engine, tmp_path):
    cells = [Cell(sweep_cells.killed, (str(tmp_path), x, 1)) for x in range(6)]
    assert run(cells, engine) == list(range(6))
    assert (tmp_path / "killed 0").exists()


def test_a_cell_that_always_kills_its_worker_is_named(engine, tmp_path):
    cells = [Cell(sweep_cells.killed, (str(tmp_path), x, 9), f"number {x}") for x in range(3)]
    with pytest.raises(CellError, match="number 2: its worker was killed 2 times"):
        run(cells, engine, retries=1)


def test_an_error_names_the_cell(engine, tmp_path):
    with pytest.raises(CellError, match=r"refuses, 2 of 2 failed: ValueError: no 1; \d of 2 cells"):
        run([Cell(sweep_cells.refuses, x) for x in range(2)], engine, keep=tmp_path)


def test_a_lost_machine_is_said_and_its_cells_run_elsewhere(cluster, engine, tmp_path, caplog):
    node = cluster.add_node(num_cpus=2)
    lost = []

    def lose(event):
        if not lost and event.share > 0.2:
            lost.append(event)
            cluster.remove_node(node, allow_graceful=False)
            deadline = time.monotonic() + 60
            while sum(each["Alive"] for each in ray.nodes()) == 3 and time.monotonic() < deadline:
                time.sleep(0.1)

    cells = [Cell(sweep_cells.noted, (str(tmp_path), x, 0.3)) for x in range(24)]
    found = run(cells, engine, keep=tmp_path / "kept", listener=lose)
    assert np.array_equal(found, [np.random.default_rng(x).random(4) for x in range(24)])
    assert lost and "is lost; its cells are run again on others" in caplog.text


def test_an_address_where_nothing_answers_is_said():
    ray.shutdown()
    start = time.monotonic()
    with pytest.raises(LostError, match="nothing answers there"), Ray("127.0.0.1:9"):
        pass
    assert time.monotonic() - start < 20


def test_a_ray_that_does_not_start_is_said():
    def init(**_):
        raise Exception("The current node timed out during startup.")

    with pytest.raises(LostError, match=r"no Ray on this machine: .*timed out during startup"):
        Ray()._start(SimpleNamespace(init=init))


def test_the_loss_of_the_whole_cluster_is_said_and_a_rerun_continues(cluster, tmp_path):
    """Last in this file: it is the end of the cluster."""
    ray.shutdown()
    cells = [Cell(sweep_cells.noted, (str(tmp_path), x, 0.3)) for x in range(40)]
    gone = []

    def lose(event):
        if not gone and event.share > 0.1:
            gone.append(event)
            cluster.head_node.kill_gcs_server()

    with Ray(cluster.address) as engine:
        with pytest.raises(LostError, match=r"no longer answers; \d+ of 40 cells"):
            run(cells, engine, keep=tmp_path / "kept", listener=lose)
    kept = len(list(tmp_path.glob("kept/*/*.json")))
    assert 0 < kept < 40
    Path(tmp_path / "runs").unlink()
    cells = [Cell(sweep_cells.noted, (str(tmp_path), x, 0.3)) for x in range(40)]
    with pytest.raises(AssertionError):  # only cells that are missing are run
        run(cells, _Refusing(40 - kept), keep=tmp_path / "kept")


class _Refusing:
    """An engine that only counts its cells."""

    def __init__(self, n):
        self.n = n

    def outcomes(self, cells, retries):
        assert len(cells) == self.n
        raise AssertionError
