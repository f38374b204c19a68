"""Runs client scenarios of the conformance suite one by one and says which passed.

One by one because only then the suite looks at the exit status of the client. A scenario passes
if it has no failure and no warning and its client exits with success.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUITE = ROOT / ".conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"
# The sets, and what is asked of us beyond what the suite calls required.
MORE = {
    "2025-06-18": [],
    "2025-11-25": ["json-schema-2020-12-preservation"],
    "2026-07-28": ["json-schema-2020-12-preservation"],
}
# Revisions of which the suite has no list of what is required, but scenarios.
UNLISTED = ("2025-06-18",)
# A scenario that takes longer than this hangs.
LIMIT_S = 120


def scenarios(node, revision):
    """The client scenarios that count for a revision, but for those about authorization."""
    listing = subprocess.run(
        [node, SUITE, "list", "--spec-version" if revision in UNLISTED else "--requirements", revision],
        capture_output=True, text=True, check=True,
    ).stdout
    found, section = [], None
    for line in listing.splitlines():
        if not line.startswith((" ", "-")) and line.strip():
            section = line
        elif section and section.startswith("Client scenarios") and line.strip().startswith("- "):
            found.append(line.strip()[2:].split()[0])
    return [name for name in found if not name.startswith("auth/")] + MORE.get(revision, [])


def run(args, revision, scenario):
    """The complaints about one scenario."""
    with tempfile.TemporaryDirectory() as out:
        command = [args.node, "--import", Path(__file__).with_name("loopback.mjs"), SUITE, "client"]
        command += ["--command", args.client, "--scenario", scenario, "-o", out]
        command += ["--spec-version", revision, "--force"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            return [f"takes longer than {LIMIT_S} s"]
        found = list(Path(out).glob("**/checks.json"))
        if not found:
            return [f"no checks: {(done.stdout + done.stderr).strip()[-300:]}"]
        checks = json.loads(found[0].read_text())
        complaints = [
            f"{check['status'].lower()} {check['id']}: {check.get('errorMessage') or check['description']}"
            for check in checks
            if check["status"] in ("FAILURE", "WARNING")
        ]
        if not any(check["status"] == "SUCCESS" for check in checks):
            complaints.append("nothing was checked")
        if done.returncode != 0:
            said = "".join(path.read_text() for path in Path(out).glob("**/stderr.txt")).strip()
            complaints.append(f"exit status {done.returncode}: {said[-600:]}")
        return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--node", required=True)
    parser.add_argument("--client", required=True)
    parser.add_argument("revision", nargs="?")
    parser.add_argument("scenario", nargs="*")
    args = parser.parse_args()
    passed = failed = 0
    for revision in [args.revision] if args.revision else MORE:
        for scenario in args.scenario or scenarios(args.node, revision):
            complaints = run(args, revision, scenario)
            print(f"{'FAILED' if complaints else 'ok    '} {revision} {scenario}", flush=True)
            for complaint in complaints:
                print(f"       {complaint}")
            passed, failed = passed + (not complaints), failed + bool(complaints)
    print(f"{passed} passed, {failed} failed")
    sys.exit(bool(failed))


main()
