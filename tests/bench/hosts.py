"""Runs one host once and reads its clocks; Linux only."""

import json
import os
import select
import signal
import subprocess
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILT = HERE / "target/release"
MOCK = str(BUILT / "mockmcp")
LIMIT_S = 60  # one run, hard


class Failed(Exception):
    pass


def own_cpu(pid):
    """CPU seconds of one process, all its threads, ended ones included."""
    return time.clock_gettime((~pid << 3) | 2)


def memory_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    fields = dict(line.split(":", 1) for line in status if ":" in line)
    rss, hwm = (int(fields[key].split()[0]) / 1024 for key in ("VmRSS", "VmHWM"))
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    pss = next(int(line.split()[1]) / 1024 for line in rollup if line.startswith("Pss:"))
    return {"rss_mb": rss, "hwm_mb": hwm, "pss_mb": pss}


def tagged(tag):
    """Live (not zombie) mock servers that carry this run's tag."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                argv = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if tag.encode() in argv and argv[0].endswith(b"mockmcp"):
                found.append(int(entry.name))
    return found


def foreign_load(sample=0.08):
    """The share of the machine that others use right now."""
    def busy():
        ticks = [int(t) for t in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
        return sum(ticks) - ticks[3] - ticks[4], sum(ticks)
    before = busy()
    time.sleep(sample)
    after = busy()
    return (after[0] - before[0]) / max(1, after[1] - before[1])


def wait_quiet(limit):
    """Waits, boundedly, for the other load to go; returns what is left."""
    end = time.monotonic() + limit
    while (load := foreign_load()) > 0.15 and time.monotonic() < end:
        time.sleep(0.3)
    return load


def listening(args, tag):
    """A mock behind HTTP, and its ports; it ends with its input."""
    mock = subprocess.Popen([MOCK, "--tag", tag, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    ports = json.loads(mock.stdout.readline())["ports"]
    return mock, [f"http://127.0.0.1:{port}/mcp" for port in ports]


def hang_up(mocks):
    for mock in mocks:
        mock.stdin.close()
        mock.stdout.close()
        mock.kill()
        mock.wait()


def remote_spec(scenario, tag):
    """The spec with servers over HTTP, and the mocks to hang up on."""
    mock, urls = listening(["--ports", str(scenario.servers), *scenario.http], tag)
    raw, raw_urls = listening(["--ports", "1", "--raw"], tag)
    servers = [{"name": f"s{i:03}", "url": url, "raw_url": raw_urls[0]} for i, url in enumerate(urls)]
    return {"servers": servers, "fast": scenario.servers, **scenario.spec}, (mock, raw)


def spec_of(scenario, tag):
    servers = []
    for i in range(scenario.servers):
        slow = ["--init-delay-ms", "5000"] if i < scenario.slow else []
        args = ["--tag", tag, *scenario.args, *slow]
        server = {"name": f"s{i:03}", "command": MOCK, "args": args}
        servers.append({**server, "slow": True} if slow else server)
    return {"servers": servers, "fast": scenario.servers - scenario.slow, **scenario.spec}


def read_events(host, start, last):
    """Events up to `last`, each with the time and the host's CPU at its arrival."""
    events, rest = {}, b""
    while last not in events:
        left = start + LIMIT_S - time.monotonic()
        if left <= 0 or not select.select([host.stdout], [], [], left)[0]:
            raise Failed(f"no '{last}' within {LIMIT_S} s")
        chunk = os.read(host.stdout.fileno(), 1 << 20)
        now = time.monotonic()
        if not chunk:
            raise Failed(f"ended before '{last}'")
        cpu = own_cpu(host.pid)
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"{"):
                event = json.loads(line)
                events[event["event"]] = {**event, "t": now - start, "cpu": cpu}
    return events


def reap(host, limit=20):
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if host.poll() is not None:
            return time.monotonic()
        time.sleep(0.0003)
    raise Failed("did not exit")


def figures(events, spec):
    """What the events say."""
    out = {f"{name}_ms": events[name]["t"] * 1e3 for name in ("fast", "returned", "listed") if name in events}
    if "listed" in events:
        out["connect_ms"] = (events["listed"]["t"] - events["loaded"]["t"]) * 1e3
        out["cpu_ms"] = events["listed"]["cpu"] * 1e3
    if "done" in events:
        wall, cpu = (events["done"][key] - events["begin"][key] for key in ("t", "cpu"))
        if spec["op"] == "calls":
            calls, latencies = events["done"]["calls"], sorted(events["done"]["lat_us"])
            out["calls_per_s"], out["cpu_us_per_call"] = calls / wall, cpu / calls * 1e6
            if latencies:
                out["p50_us"] = latencies[len(latencies) // 2]
                out["p99_us"] = latencies[len(latencies) * 99 // 100]
        else:
            megabytes = events["done"]["bytes"] / 1e6
            out["mb_per_s"], out["cpu_ms_per_mb"] = megabytes / wall, cpu * 1e3 / megabytes
    return out


def converse(command, scenario, spec, tag, folder):
    (folder / "spec.json").write_text(json.dumps(spec))
    start = time.monotonic()
    with open(folder / "stderr", "wb") as stderr:
        host = subprocess.Popen([*command, str(folder / "spec.json")], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, stderr=stderr)
    try:
        events = read_events(host, start, "listed" if spec["op"] == "list" else "done")
        time.sleep(scenario.settle)
        out = memory_mb(host.pid)
        told = time.monotonic()
        if scenario.kill:
            host.kill()
        else:
            host.stdin.write(b"go\n")
        host.stdin.close()
        ended = reap(host)
    finally:
        host.kill()
        host.wait()
        host.stdout.close()
    out["shutdown_ms"], out["exit_ms"] = (ended - told) * 1e3, (ended - start) * 1e3
    time.sleep(scenario.orphans_after)
    out["orphans"] = len(tagged(tag))
    if host.returncode != 0 and not scenario.kill:
        raise Failed(f"exit status {host.returncode}")
    if "listed" in events:
        wanted = scenario.tools or 10 * scenario.servers
        if events["listed"]["tools"] not in (0, wanted):
            raise Failed(f"listed {events['listed']['tools']} tools, not {wanted}")
    return {**out, **figures(events, spec)}


def run_adapter(command, scenario, quiet_s):
    """One run: its figures, or its error."""
    tag = f"bench-{os.getpid()}-{time.monotonic_ns()}"
    with tempfile.TemporaryDirectory(prefix="tidegate-bench-") as folder:
        folder = Path(folder)
        noise, mocks = wait_quiet(quiet_s), ()
        try:
            if scenario.http is None:
                spec = spec_of(scenario, tag)
            else:
                spec, mocks = remote_spec(scenario, tag)
            return {**converse(command, scenario, spec, tag, folder), "noise": noise}
        except Failed as error:
            tail = (folder / "stderr").read_bytes()[-400:].decode(errors="replace")
            return {"error": str(error), "stderr": tail, "noise": noise}
        finally:
            hang_up(mocks)
            for pid in tagged(tag):  # whatever the host left behind
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
