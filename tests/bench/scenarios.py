"""What is measured, and what is to be reached."""

from dataclasses import dataclass, field

LISTED = ("listed_ms", "connect_ms", "cpu_ms", "exit_ms")
LATENCY = ("p50_us", "p99_us", "cpu_us_per_call")
RATE = ("calls_per_s", "cpu_us_per_call")
BIG = ("mb_per_s", "cpu_ms_per_mb", "hwm_mb")
MEMORY = ("rss_mb", "pss_mb")
CALLS = {"op": "calls", "arg_bytes": 100, "warmup": 200}
BIGGER_IS_BETTER = {"calls_per_s", "mb_per_s", "inputs_per_s"}


@dataclass
class Scenario:
    title: str
    metrics: tuple
    servers: int = 1
    args: tuple = ()
    runs: int = 5
    skip: tuple = ()
    http: tuple = None  # the mock's arguments if it is reached over HTTP
    slow: int = 0  # servers that take 5 s to initialize
    settle: float = 0  # seconds of rest before the memory is read
    kill: bool = False  # end the host with SIGKILL
    orphans_after: float = 0  # seconds after the host's end at which its servers are counted
    tools: int = 0  # all tools, if not ten a server
    spec: dict = field(default_factory=lambda: {"op": "list"})


def big(megabytes, repeat):
    return {"op": "big", "bytes": megabytes * 1_000_000, "repeat": repeat}


SHUTDOWN = ("shutdown_ms", "orphans")

SCENARIOS = {
    "S1-1": Scenario("cold start, 1 server, tools listed", LISTED, 1, runs=7),
    "S1-10": Scenario("cold start, 10 servers, tools listed", LISTED, 10, runs=7),
    "S1-50": Scenario("cold start, 50 servers, tools listed", LISTED, 50, runs=7),
    "S1-200": Scenario("cold start, 200 servers, tools listed", LISTED, 200),
    "S2": Scenario("10 servers, one 5 s slow to initialize", ("fast_ms", "returned_ms", "listed_ms"),
                   10, runs=3, slow=1),
    "S3": Scenario("10,000 calls of 100 B one by one", LATENCY,
                   spec={**CALLS, "calls": 10_000, "inflight": 1}),
    "S4": Scenario("50,000 calls of 100 B, 64 in flight", RATE,
                   spec={**CALLS, "calls": 50_000, "inflight": 64}),
    "S5-1": Scenario("1 MB text results, 20 times", BIG, spec=big(1, 20)),
    "S5-10": Scenario("10 MB text results, 5 times", BIG, spec=big(10, 5)),
    # The peer's call never returns: one run of it is enough to show that.
    "S5-50": Scenario("50 MB text results, 2 times", BIG, runs=3, spec=big(50, 2)),
    "S6-50": Scenario("memory with 50 idle servers", MEMORY, 50, runs=3, settle=1.0),
    "S6-200": Scenario("memory with 200 idle servers", MEMORY, 200, runs=3, settle=1.0),
    "S7-seq": Scenario("3,000 calls of 100 B one by one over HTTP, JSON answers", LATENCY, http=(),
                       spec={**CALLS, "calls": 3_000, "inflight": 1}),
    "S7-conc": Scenario("10,000 calls of 100 B over HTTP, 64 in flight, JSON answers", RATE, http=(),
                        spec={**CALLS, "calls": 10_048, "inflight": 64}),
    "S7-seq-sse": Scenario("3,000 calls of 100 B one by one over HTTP, answers as streams", LATENCY,
                           http=("--sse",), spec={**CALLS, "calls": 3_000, "inflight": 1}),
    "S7-conc-sse": Scenario("10,000 calls of 100 B over HTTP, 64 in flight, answers as streams", RATE,
                            http=("--sse",), spec={**CALLS, "calls": 10_048, "inflight": 64}),
    "S7-big": Scenario("10 MB text results over HTTP as streams, 5 times", BIG, http=("--sse",),
                       spec=big(10, 5)),
    # The slowest of them takes 196 ms for its first answer.
    "S7-list-50": Scenario("50 servers over HTTP, each 4 ms slower than the one before", LISTED, 50,
                           http=("--init-step-ms", "4"), skip=("floor", "bare")),
    "S7-idle-200": Scenario("memory with 200 idle servers over HTTP, a stream open to each", MEMORY, 200,
                            runs=3, http=(), skip=("floor", "bare"), settle=1.0),
    "S8": Scenario("shutdown of 50 servers that obey the end of input", SHUTDOWN, 50),
    "S8-eof": Scenario("shutdown of 10 servers that ignore the end of input", SHUTDOWN, 10,
                       ("--ignore-eof",), runs=3, skip=("bare",)),
    "S8-term": Scenario("shutdown of 10 servers that ignore SIGTERM too", SHUTDOWN, 10,
                        ("--ignore-eof", "--ignore-term"), runs=3, skip=("bare",)),
    "S8-kill": Scenario("host killed, 10 servers that obey the end of input", ("orphans",), 10,
                        runs=3, kill=True, orphans_after=3),
    "S8-kill-eof": Scenario("host killed, 10 servers that ignore everything", ("orphans",), 10,
                            ("--ignore-eof", "--ignore-term"), runs=2, kill=True, orphans_after=3,
                            skip=("bare",)),
    "S9": Scenario("5,000 tools in pages of 100", LISTED, 1,
                   ("--tools", "5000", "--page-size", "100"), tools=5000),
}

# What `ours` is to reach. `of` is the column that the bound is a multiple of; without it the
# bound is absolute. Rates are inverted first, so that a smaller figure is always the better one.
# Some figures have two targets.
TARGETS = {
    ("list", "own_ms"): {"at_most": 15},
    ("S1-50", "listed_ms"): {"of": "floor", "at_most": 1.2},
    ("S1-50", "cpu_ms"): {"of": "floor", "at_most": 2.5},
    ("S1-200", "listed_ms"): {"of": "floor", "at_most": 1.5},
    ("S1-200", "cpu_ms"): {"of": "floor", "at_most": 2.5},
    ("S3", "p50_us"): {"of": "rmcp", "at_most": 0.6},
    ("S3", "p99_us"): {"of": "rmcp", "at_most": 1.0},
    ("S4", "calls_per_s"): {"of": "rmcp", "at_most": 1 / 3.5},
    ("S4", "cpu_us_per_call"): {"of": "rmcp", "at_most": 0.25},
    ("S5-10", "mb_per_s"): {"of": "floor", "at_most": 1.1},
    ("S5-10", "hwm_mb"): {"at_most": 3.5 * 10 / 1.048576},
    ("S5-50", "mb_per_s"): {"of": "floor", "at_most": 1.1},
    ("S5-50", "hwm_mb"): {"at_most": 3.5 * 50 / 1.048576},
    ("S6-50", "rss_mb"): {"at_most": 4.6},
    ("S6-200", "rss_mb"): {"at_most": 8},
    **{(f"S7-seq{form}", "p50_us"): ({"of": "floor", "at_most": 2.5}, {"of": "rmcp-pool", "at_most": 0.65})
       for form in ("", "-sse")},
    **{(f"S7-conc{form}", "calls_per_s"): {"of": "rmcp-pool", "at_most": 1 / 2.5} for form in ("", "-sse")},
    ("S7-big", "mb_per_s"): {"of": "floor", "at_most": 1 / 0.8},
    ("S7-list-50", "connect_ms"): {"at_most": 1.2 * 196},
    ("S7-idle-200", "rss_mb"): {"at_most": 30},
    ("S8", "shutdown_ms"): {"at_most": 10},
    ("S8", "orphans"): {"at_most": 0},
    ("S8-eof", "shutdown_ms"): {"at_most": 1100},
    ("S8-eof", "orphans"): {"at_most": 0},
    ("S8-term", "shutdown_ms"): {"at_most": 3200},
    ("S8-term", "orphans"): {"at_most": 0},
    ("S8-kill", "orphans"): {"at_most": 0},
    ("S8-kill-eof", "orphans"): {"at_most": 0},
    ("S9", "listed_ms"): {"of": "bare", "at_most": 2.5},
    ("discovery", "cpu_ms"): {"at_most": 5},
    ("servers-own", "cpu_ms"): {"at_most": 150},
    ("servers-shared", "cpu_ms"): {"at_most": 150},
    ("servers-toml", "cpu_ms"): {"at_most": 150},
    ("servers-yaml", "cpu_ms"): {"at_most": 150},
    ("watching", "cpu_ms"): {"at_most": 1},
    ("explorer", "seconds"): {"at_most": 60},
    ("core", "inputs_per_s"): {"at_least": 1_000_000},
}
