"""Measures commands as a user runs them: `tidegate list`, the explorer, the core's speed."""

import json
import os
import re
import subprocess
import tempfile
import time
from pathlib import Path

from hosts import HERE, MOCK, Failed, wait_quiet

ROOT = HERE.parent.parent
TIDEGATE = str(ROOT / "target/release/tidegate")
GATE_MS = 250
SERVERS = 10


def tidegate_list(folder, silent, *flags):
    """One `list`: its wall time in ms and its report. Server 0 says nothing if `silent`."""
    def server(i):
        delay = "60000" if silent and i == 0 else "0"
        # In the environment, so that the definition is the one that was cached.
        return {"command": MOCK, "args": ["--tag", f"list-{os.getpid()}"], "env": {"MOCK_INIT_DELAY_MS": delay}}
    config = folder / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {f"s{i}": server(i) for i in range(SERVERS)}}))
    places = {f"TIDEGATE_{name}_DIR": str(folder / name) for name in ("CACHE", "CONFIG", "STATE")}
    start = time.monotonic()
    ended = subprocess.run([TIDEGATE, "--config", str(config), "--json", "list", *flags], cwd=folder,
                           env={**os.environ, **places}, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    wall = (time.monotonic() - start) * 1e3
    if ended.returncode != 0:
        raise Failed(f"exit status {ended.returncode}: {ended.stderr[-300:].decode(errors='replace')}")
    return wall, json.loads(ended.stdout)


def cached_list():
    """Every server cached, one silent: what `list` takes beyond the gate."""
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        folder = Path(folder)
        tidegate_list(folder, False, "--wait")
        wall, report = tidegate_list(folder, True)
    tools = [tool["state"] for server in report["servers"] for tool in server["tools"]]
    if len(tools) != 10 * SERVERS or tools.count("deferred") != 10:
        raise Failed(f"{len(tools)} tools, {tools.count('deferred')} of them deferred")
    return {"wall_ms": wall, "own_ms": wall - GATE_MS}


def run(*words):
    ended = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    if ended.returncode != 0:
        raise Failed(f"exit status {ended.returncode}: {ended.stderr[-300:].decode(errors='replace')}")
    return ended.stdout.decode()


RUNTIME = ("cargo", "bench", "--locked", "--package", "tidegate-core", "--bench", "runtime")
INTERLEAVE = ("cargo", "test", "--release", "--locked", "--package", "tidegate-tests", "--test", "interleave")


def explorer():
    """Every order of the events of small stories: the time of its tests on all cores."""
    finished = re.search(r"test result: ok\..* finished in ([0-9.]+)s", run(*INTERLEAVE))
    if not finished:
        raise Failed("no summary of the tests")
    return {"seconds": float(finished[1])}


def core():
    """Inputs a second into the machine with 50 servers: calls and their answers."""
    table = run(*RUNTIME, "--", "call_and_answer")
    below = table.partition("─ 50 ")[2].split("\n")[1]
    rates = re.findall(r"([0-9.]+) ([KMG]?)item/s", below)
    if len(rates) != 4:
        raise Failed("no rates of 50 servers in the bench's table")
    median, unit = rates[2]
    return {"inputs_per_s": float(median) * {"": 1, "K": 1e3, "M": 1e6, "G": 1e9}[unit]}


def attempt(measure, quiet_s):
    """One run: its figures, or its error."""
    try:
        noise = wait_quiet(quiet_s)
        return {**measure(), "noise": noise}
    except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"error": str(error)}
