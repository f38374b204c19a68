"""Measures the configuration as a user meets it: a cold `tidegate` over a home with every source,
a file with 10,000 servers in each language, and a host that only watches. All of it is CPU time of
the process, user and system, so that other load does not count."""

import json
import os
import subprocess
import tempfile
import time
from pathlib import Path

from commands import ROOT, TIDEGATE
from hosts import Failed, own_cpu

BUILD = ("cargo", "build", "--release", "--locked", "--package", "tidegate-smol", "--example", "follow")
FOLLOW = ROOT / "target/release/examples/follow"
SERVERS = 10_000
LANGUAGES = ("own", "shared", "toml", "yaml")
COLD_RUNS = 15
REST_S = 10

# What a tool's file has its servers under, where that is not `mcpServers`.
SECTIONS = {"vscode": "servers", "zed": "context_servers", "opencode": "mcp", "crush": "mcp"}


def environment(home):
    places = {"HOME": home, "XDG_CONFIG_HOME": home / ".config"}
    places |= {f"TIDEGATE_{name}_DIR": home / f".tidegate-{name.lower()}" for name in ("CACHE", "CONFIG", "STATE")}
    kept = {name: os.environ[name] for name in ("PATH",) if name in os.environ}
    return kept | {name: str(place) for name, place in places.items()}


def cold(args, home, cwd):
    """One run of the command from its start to its end: its CPU in ms and what it printed."""
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen([TIDEGATE, *args], cwd=cwd, env=environment(home), stdin=subprocess.DEVNULL,
                                 stdout=out, stderr=subprocess.PIPE)
        complaint = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise Failed(f"exit status {child.returncode}: {complaint[-300:].decode(errors='replace')}")
        out.seek(0)
        return (used.ru_utime + used.ru_stime) * 1e3, out.read()


def entry(source):
    """A file of the source's tool with one server."""
    provider, path = source["provider"], source["path"]
    name = f"{provider}-{source['level']}"
    if path.endswith(".toml"):
        return f'[mcp_servers.{name}]\ncommand = "true"\n'
    if path.endswith((".yaml", ".yml")):
        if provider == "goose":
            return f"extensions:\n  {name}:\n    type: stdio\n    cmd: 'true'\n"
        return f"mcpServers:\n  - name: {name}\n    command: 'true'\n"
    return json.dumps({SECTIONS.get(provider, "mcpServers"): {name: {"command": "true"}}}, indent=2)


def discovery():
    """Every file of every tool is there with a server: what it costs to find out what there is."""
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        home = Path(folder) / "home"
        project = home / "project"
        (project / ".git").mkdir(parents=True)
        args = ("sources", "--json")
        missing = json.loads(cold(args, home, project)[1])["sources"]
        for source in missing:
            path = Path(source["path"])
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(entry(source))
        runs = [cold(args, home, project) for _ in range(COLD_RUNS)]
    read = [source for source in json.loads(runs[0][1])["sources"] if source["state"] == "read"]
    if len(read) < len(missing) or sum(len(source["servers"]) for source in read) < len(read) // 2:
        raise Failed(f"{len(read)} of {len(missing)} files were read")
    return {"cpu_ms": sorted(cpu for cpu, _ in runs)[COLD_RUNS // 2], "files": len(read)}


def large(language):
    """One file with 10,000 servers, read by a cold command that prints one line for each."""
    servers = [(f"s{n:05}", f"s{n}.js", str(n)) for n in range(SERVERS)]
    if language == "toml":
        path, lines = ".codex/config.toml", [
            f'[mcp_servers.{name}]\ncommand = "node"\nargs = ["{script}"]\nenv = {{ K = "{key}" }}\n'
            for name, script, key in servers]
    elif language == "yaml":
        path, lines = ".config/goose/config.yaml", ["extensions:"] + [
            f"  {name}:\n    type: stdio\n    cmd: node\n    args:\n      - {script}\n    envs:\n      K: '{key}'"
            for name, script, key in servers]
    else:
        path = ".tidegate-config/mcp.json" if language == "own" else "project/.mcp.json"
        entries = {name: {"command": "node", "args": [script], "env": {"K": key}} for name, script, key in servers}
        lines = [json.dumps({"mcpServers": entries}, indent=2)]
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        home = Path(folder)
        (home / "project").mkdir()
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(lines) + "\n")
        runs = [cold(("sources", "--json"), home, home / "project") for _ in range(5)]
    found = sum(len(source["servers"]) for source in json.loads(runs[0][1])["sources"])
    if found != SERVERS:
        raise Failed(f"{found} servers were found")
    return {"cpu_ms": sorted(cpu for cpu, _ in runs)[2]}


def watching():
    """A host that follows every source, and nothing changes."""
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        child = subprocess.Popen([str(FOLLOW)], cwd=folder, env=environment(Path(folder)), stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        try:
            if child.stdout.readline() != b"following\n":
                raise Failed("it does not follow")
            time.sleep(1)
            before = own_cpu(child.pid)
            time.sleep(REST_S)
            return {"cpu_ms": (own_cpu(child.pid) - before) * 1e3, "seconds": REST_S}
        finally:
            child.stdin.close()
            child.wait(10)
