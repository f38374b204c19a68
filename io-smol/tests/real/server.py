"""A server with bad manners on request: `server.py [MANNER]…`; its tools are at the bottom."""

import json
import os
import signal
import subprocess
import sys
import time

MANNERS = set(sys.argv[1:])
STAY = "import signal, time\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\ntime.sleep(600)"


def reply(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def stay(**how):
    """A child that ignores everything that can be ignored."""
    subprocess.Popen([sys.executable, "-c", STAY], stdin=subprocess.DEVNULL, **how)


def echo(arguments):
    return arguments.get("text", "")


def surroundings(_):
    fds = {fd: os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if os.path.exists(f"/proc/self/fd/{fd}")}
    blocked = open("/proc/self/status").read()
    masks = {line.split(":")[0]: line.split()[1] for line in blocked.splitlines() if line.startswith("Sig")}
    return json.dumps({
        "env": dict(os.environ), "cwd": os.getcwd(), "fds": fds, "pid": os.getpid(),
        "group": os.getpgrp(), "masks": masks, "args": sys.argv[1:],
    })


def complain(arguments):
    sys.stderr.write("x" * arguments["bytes"])
    sys.stderr.flush()
    return "done"


def blob(arguments):
    return "y" * arguments["bytes"]


def nap(arguments):
    time.sleep(arguments["seconds"])
    return "awake"


def zombie(_):
    """Leaves an ended process in this group that its parent, in another group, never reaps."""
    group = os.getpgrp()
    ready, done = os.pipe()
    if os.fork() == 0:
        os.setpgid(0, 0)
        if os.fork() == 0:
            os.setpgid(0, group)
            os.write(done, b"x")
            os._exit(0)
        os.closerange(0, 3)
        time.sleep(600)
    os.read(ready, 1)
    return "done"


TOOLS = {f.__name__: f for f in (echo, surroundings, complain, blob, nap, zombie)}


def handle(message):
    method, ident = message.get("method"), message.get("id")
    if method == "initialize":
        reply({"jsonrpc": "2.0", "id": ident, "result": {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "manners", "version": "1"}}})
    elif method == "tools/list":
        reply({"jsonrpc": "2.0", "id": ident, "result": {
            "tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]}})
    elif method == "tools/call":
        name, arguments = message["params"]["name"], message["params"].get("arguments") or {}
        text = TOOLS[name](arguments)
        reply({"jsonrpc": "2.0", "id": ident, "result": {"content": [{"type": "text", "text": text}]}})
        if arguments.get("then") == "exit":
            os._exit(3)
        if arguments.get("then") == "deaf":
            time.sleep(600)


if "ignore-term" in MANNERS:
    for ignored in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
if "child" in MANNERS:
    stay()
if "session" in MANNERS:
    stay(start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
if "orphan" in MANNERS:
    subprocess.Popen(["sh", "-c", 'setsid "$@" & exit', "sh", sys.executable, "-c", STAY], stdin=subprocess.DEVNULL,
                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()
if "bare" in MANNERS:
    # A daemon that has left everything behind; its last words say whose it is.
    whose = [f"{name}={value}" for name, value in os.environ.items() if name.startswith("TIDEGATE_SMOL_")]
    subprocess.Popen(["sh", "-c", 'env -i setsid "$@" & exit', "sh", sys.executable, "-c", STAY, *whose],
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).wait()
for noisy, stream in (("noise", sys.stdout), ("complaints", sys.stderr)):
    # A process of its own, so that the server answers all the same.
    if noisy in MANNERS:
        subprocess.Popen(["sh", "-c", "exec yes not a message"], stdin=subprocess.DEVNULL, stdout=stream)
for line in sys.stdin:
    handle(json.loads(line))
while "ignore-eof" in MANNERS:
    time.sleep(600)
