"""A server of the Python SDK: sdk_server.py stdio, or {streamable-http|sse} PORT [json]."""

import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context

server = MCPServer("python", version="1.0", log_level="ERROR")


@server.tool()
def add(a: int, b: int) -> int:
    return a + b


@server.tool()
async def count(steps: int, pause: float, ctx: Context) -> str:
    for step in range(steps):
        await ctx.report_progress(step + 1, steps)
        await anyio.sleep(pause)
    return f"counted to {steps}"


@server.resource("note://one")
def note() -> str:
    return "one"


@server.prompt()
def greet(name: str) -> str:
    return f"Greet {name}."


transport, *more = sys.argv[1:]
options = {"json_response": True} if "json" in more else {}
if transport != "stdio":
    options |= {"host": "127.0.0.1", "port": int(more[0])}
server.run(transport, **options)
