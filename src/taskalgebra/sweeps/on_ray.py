"""Cells on Ray: on this machine, or on a cluster that is reached by its address.

Ray (https://docs.ray.io) sends cells to machines, and runs them again elsewhere when a worker or a
machine is lost.  A cell is a Ray task with one core.  Each worker compares its code with that of
the process that asks before it runs anything: two versions of a library do not make one sweep.

Without an address, Ray is started for this process alone.  It then listens on the loopback
interface only, without its dashboard.
"""

from __future__ import annotations

import os
import socket
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from importlib import import_module
from importlib.util import find_spec
from ipaddress import ip_address
from typing import Any, Self, final

from taskalgebra.extras import missing
from taskalgebra.limits import MOST_THREADS
from taskalgebra.progress import LOGGER
from taskalgebra.sweeps.cells import (
    RETRIES,
    Cell,
    CellError,
    Done,
    Failed,
    LostError,
    failure,
    perform,
    words_of,
)
from taskalgebra.sweeps.content import code_of
from taskalgebra.sweeps.processes import ONE_THREAD
from taskalgebra.sweeps.serial import here
from taskalgebra.threads import cores
from taskalgebra.validation import count, instance

LOOK_EVERY = 1.0
"""Seconds between two looks at the machines of a cluster."""
PATIENCE = 5
"""Looks in vain at the head of a cluster before it is taken to be gone."""
REACH = 5.0
"""Seconds for a machine to answer."""
AT_HAND = 2
"""Cells on their way for each core, so that none waits for the next one."""
_NO_STATISTICS = ("RAY_USAGE_STATS_ENABLED", "0")
_MANY_MACHINES = "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"
"""Ray's switch for clusters, on all systems; without them it keeps to the loopback interface."""


@contextmanager
def one_machine() -> Iterator[None]:
    """While Ray is started: it is to listen on the loopback interface only.

    Ray reads the variable of the environment when it is imported, which may have been before; the
    processes that it starts read it again.
    """
    constants: Any = import_module("ray._private.ray_constants")
    variable, constant = os.environ.get(_MANY_MACHINES), constants.ENABLE_RAY_CLUSTER
    os.environ[_MANY_MACHINES], constants.ENABLE_RAY_CLUSTER = "0", False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = constant
        del os.environ[_MANY_MACHINES]
        if variable is not None:
            os.environ[_MANY_MACHINES] = variable


@final
class Ray:
    """Ray on this machine, or a cluster."""

    def __init__(self, address: str | None = None, workers: int | None = None) -> None:
        """Choose the cluster, and how many cells run at once.

        Args:
            address: `host:port` of the head of a cluster, `ray://host:port` of its server for
                clients, or "auto" on one of its machines; without one, Ray is started here.
            workers: by default one for each core of the cluster.

        Raises:
            ModuleNotFoundError: Ray is not installed.
            ValueError: the address is empty.
        """
        if address is not None and not instance(address, str, "the address of Ray").strip():
            raise ValueError(
                "the address of Ray is empty, as of a variable that is not set; give HOST:PORT, or "
                "none to start Ray here"
            )
        if find_spec("ray") is None:
            raise ModuleNotFoundError(missing("sweeps on a cluster", "ray", "cluster"))
        self.address = address
        self._asked = None if workers is None else count(workers, "workers", most=MOST_THREADS)
        self.cpu_seconds = 0.0
        self._ray: Any = None
        self._own = False
        self._nodes: dict[str, str] = {}
        self._looked, self._in_vain = 0.0, 0

    @property
    def workers(self) -> int:
        """How many cells run at once."""
        if self._asked is not None:
            return self._asked
        return cores() if self._ray is None else max(1, int(self._cores()))

    def __enter__(self) -> Self:
        """Start Ray, or connect to the cluster."""
        self._connect()
        return self

    def __exit__(self, *_: object) -> None:
        """End what was started, or leave the cluster."""
        ray, self._ray = self._ray, None
        if ray is not None and self._own:
            ray.shutdown()

    def outcomes(self, cells: Sequence[Cell], retries: int = RETRIES) -> Iterator[tuple[int, Done]]:
        """Run the cells, as many at once as there are cores."""
        ray = self._connect()
        task = ray.remote(num_cpus=1, max_retries=retries, retry_exceptions=False)(_perform)
        waiting = deque(range(len(cells)))
        room = self._room()
        flying: dict[Any, int] = {}
        try:
            while waiting or flying:
                while waiting and len(flying) < room:
                    i = waiting.popleft()
                    cell = cells[i]
                    code = code_of(cell.function)
                    flying[self._begin(task, cell, code)] = i
                finished, _ = ray.wait(list(flying), num_returns=1, timeout=LOOK_EVERY)
                for future in finished:
                    i = flying.pop(future)
                    yield i, self._result(cells[i], future, retries)
                if self._look():
                    room = self._room()  # machines may have joined the cluster
            self._say_lost()
        finally:
            if flying and self._in_vain < PATIENCE:
                for future in flying:
                    ray.cancel(future, force=True)

    def _connect(self) -> Any:
        """Ray, connected."""
        if self._ray is not None:
            return self._ray
        os.environ.setdefault(*_NO_STATISTICS)
        ray = import_module("ray")
        self._own = not ray.is_initialized()
        if self._own:
            self._start(ray)
        else:
            self._require_this(ray)
        self._ray = ray
        self._nodes = _alive(ray)
        return ray

    def _start(self, ray: Any) -> None:
        options: dict[str, Any] = {
            "configure_logging": False,
            "log_to_driver": False,
            "runtime_env": {"env_vars": {**ONE_THREAD, "PYTHONPATH": _own_path()}},
        }
        if self.address is None:
            options |= {"address": "local", "include_dashboard": False}
            options["num_cpus"] = self._asked or cores()
        else:
            options["address"] = self.address
            self._require_answer(self.address)
        try:
            with one_machine() if self.address is None else nullcontext():
                ray.init(**options)
        except Exception as error:  # a machine that is overloaded ends in a bare Exception of Ray
            where = "on this machine" if self.address is None else f"at {self.address}"
            raise LostError(f"no Ray {where}: {words_of(error)}") from error
        if self.address is None:
            self._require_loopback(ray)

    def _require_this(self, ray: Any) -> None:
        """Refuse to send cells to another cluster than the one that was asked for."""
        connected = ray.get_runtime_context().gcs_address
        asked, found = _place(self.address or ""), _place(connected)
        by_client = self.address is not None and self.address.startswith("ray://")
        if asked and found and not by_client and asked[1] != found[1]:  # hosts have many names
            raise LostError(
                f"this process is connected to the Ray at {connected}, not to that at "
                f"{self.address}; call ray.shutdown() first"
            )

    def _require_loopback(self, ray: Any) -> None:
        addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
        if not all(ip_address(each).is_loopback for each in addresses):
            ray.shutdown()
            raise LostError(
                f"Ray was stopped, as it listened on {', '.join(sorted(addresses))} and not on the "
                f"loopback interface alone; set {_MANY_MACHINES}=0 before Ray is imported"
            )

    def _require_answer(self, address: str) -> None:
        place = _place(address)
        if place is not None and not _answers(place):
            raise LostError(
                f"no Ray at {address}: nothing answers there; start it with "
                f"`ray start --head --port={place[1]}` on that machine"
            )

    def _begin(self, task: Any, cell: Cell, code: str) -> Any:
        try:
            return task.remote(cell.function, cell.data, code)
        except TypeError as error:
            raise CellError(f"the cell {cell} cannot travel: {words_of(error)}") from error

    def _result(self, cell: Cell, future: Any, retries: int) -> Done:
        """What became of a cell."""
        ray = self._ray
        lost = (
            ray.exceptions.WorkerCrashedError,
            ray.exceptions.OutOfMemoryError,
            ray.exceptions.NodeDiedError,
            ray.exceptions.ObjectLostError,
        )
        try:
            done: Done | Failed = ray.get(future)
        except lost as error:
            raise CellError(
                f"the cell {cell}: its worker was killed {retries + 1} times, perhaps for lack of "
                f"memory; run again with fewer workers, or with smaller cells"
            ) from error
        except ray.exceptions.RayError as error:
            first = str(error).strip().splitlines()[-1:] or [type(error).__name__]
            raise CellError(f"the cell {cell} cannot be run on Ray: {first[0]}") from error
        if isinstance(done, Failed):
            raise failure(cell, done)
        self.cpu_seconds += done.cpu_seconds
        return done

    def _room(self) -> int:
        """How many cells may be on their way."""
        return self.workers if self._asked is not None else AT_HAND * self.workers

    def _look(self) -> bool:
        """See now and then which machines of the cluster are there; whether that was done now."""
        if time.monotonic() - self._looked < LOOK_EVERY:
            return False
        self._looked = time.monotonic()
        ray = self._ray
        place = _place(self.address or ray.get_runtime_context().gcs_address)
        if place is not None and not _answers(place):
            self._in_vain += 1
            if self._in_vain >= PATIENCE:
                host, port = place
                raise LostError(f"the head of the Ray cluster at {host}:{port} no longer answers")
            return False
        self._in_vain = 0
        self._say_lost()
        if not self._cores():
            raise LostError("no machine of the Ray cluster is left that could run cells")
        return True

    def _say_lost(self) -> None:
        """Log which machines were there before and are not now."""
        now = _alive(self._ray)
        for node in self._nodes.keys() - now.keys():
            LOGGER.warning(
                "the machine %s is lost; its cells are run again on others", self._nodes[node]
            )
        self._nodes = now

    def _cores(self) -> float:
        return sum(
            float(node["Resources"].get("CPU", 0.0)) for node in self._ray.nodes() if node["Alive"]
        )


def _own_path() -> str:
    """Where this process finds modules, besides those that are installed.

    Machines on which there are no such directories look for them in vain; where other sources are
    found, workers refuse to run cells.
    """
    return os.pathsep.join(path for path in sys.path if path and not path.startswith(sys.prefix))


def _alive(ray: Any) -> dict[str, str]:
    """The machines of a cluster that are there: their addresses and the beginning of their ids."""
    return {
        node["NodeID"]: f"{node['NodeManagerAddress']} (node {node['NodeID'][:8]})"
        for node in ray.nodes()
        if node["Alive"]
    }


def _place(address: str) -> tuple[str, int] | None:
    """The host and the port of an address; None where it has none, such as "auto"."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    return (host.strip("[]"), int(port)) if colon and host and port.isdecimal() else None


def _answers(place: tuple[str, int]) -> bool:
    try:
        socket.create_connection(place, REACH).close()
    except (OSError, UnicodeError):  # a host that is no name
        return False
    return True


def _perform(function: Callable[[Any], Any], data: Any, code: str) -> Done | Failed:
    node = sys.modules["ray"].get_runtime_context().get_node_id()
    return perform(function, data, f"{here()} node {node}", code)
