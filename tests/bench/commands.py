"""Measures commands as a user runs them: `tidegate list`, the explorer, the core's speed."""

import json
import os
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


def cached_list(quiet_s):
    """Every server cached, one silent: what `list` takes beyond the gate."""
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        folder = Path(folder)
        tidegate_list(folder, False, "--wait")
        noise = wait_quiet(quiet_s)
        wall, report = tidegate_list(folder, True)
    tools = [tool["state"] for server in report["servers"] for tool in server["tools"]]
    if len(tools) != 10 * SERVERS or tools.count("deferred") != 10:
        raise Failed(f"{len(tools)} tools, {tools.count('deferred')} of them deferred")
    return {"wall_ms": wall, "own_ms": wall - GATE_MS, "noise": noise}


def command(folder, *words):
    ended = subprocess.run(words, cwd=ROOT / folder, capture_output=True, timeout=600)
    if ended.returncode != 0:
        raise Failed(f"exit status {ended.returncode}: {ended.stderr[-300:].decode(errors='replace')}")
    return ended.stdout.decode()


def attempt(measure):
    try:
        return measure()
    except (Failed, OSError, ValueError, subprocess.TimeoutExpired) as error:
        return {"error": str(error)}
