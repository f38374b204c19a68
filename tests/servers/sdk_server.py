"""A server of the Python SDK over HTTP: sdk_server.py {streamable-http|sse} PORT [json]."""

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


transport, port, *more = sys.argv[1:]
options = {"json_response": True} if "json" in more else {}
server.run(transport, host="127.0.0.1", port=int(port), **options)
