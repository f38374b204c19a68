// A server of the official TypeScript SDK, second generation: server.mjs stdio, or http PORT.
// Over HTTP it keeps sessions for clients with a handshake, and serves the others one by one.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(join(process.env.NODE_ROOT, 'package.json'));
const { McpServer, createMcpHandler, isLegacyRequest } = require('@modelcontextprotocol/server');
const { serveStdio } = require('@modelcontextprotocol/server/stdio');
const { NodeStreamableHTTPServerTransport, toNodeHandler, toWebRequest } = require('@modelcontextprotocol/node');
const { z } = require('zod');

const text = (words) => ({ content: [{ type: 'text', text: words }] });
const pause = (seconds) => new Promise((done) => setTimeout(done, seconds * 1000));

function build() {
  const server = new McpServer({ name: 'typescript', version: '1.0.0' });
  const numbers = z.object({ a: z.number(), b: z.number() });
  server.registerTool('add', { inputSchema: numbers }, async ({ a, b }) => text(String(a + b)));
  const counting = z.object({ steps: z.number(), pause: z.number() });
  server.registerTool('count', { inputSchema: counting }, async ({ steps, pause: seconds }, ctx) => {
    const progressToken = ctx.mcpReq._meta?.progressToken;
    for (let step = 1; step <= steps; step += 1) {
      if (ctx.mcpReq.signal.aborted) return text('given up');
      if (progressToken !== undefined) {
        const params = { progressToken, progress: step, total: steps };
        await ctx.mcpReq.notify({ method: 'notifications/progress', params });
      }
      await pause(seconds);
    }
    return text(`counted to ${steps}`);
  });
  server.registerResource('one', 'note://one', {}, async (uri) => ({ contents: [{ uri: uri.href, text: 'one' }] }));
  const greeting = z.object({ name: z.string() });
  server.registerPrompt('greet', { argsSchema: greeting }, ({ name }) => ({
    messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }],
  }));
  return server;
}

function listen(port) {
  const sessions = new Map();
  const modern = toNodeHandler(createMcpHandler(build, { legacy: 'reject' }));
  const legacy = async (request, response, body) => {
    const id = request.headers['mcp-session-id'];
    if (id && !sessions.has(id)) return response.writeHead(404).end();
    if (id) return sessions.get(id).handleRequest(request, response, body);
    const transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (begun) => sessions.set(begun, transport),
    });
    transport.onclose = () => sessions.delete(transport.sessionId);
    await build().connect(transport);
    return transport.handleRequest(request, response, body);
  };
  createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const whole = Buffer.concat(chunks).toString();
    const body = whole ? JSON.parse(whole) : undefined;
    const isLegacy = request.method !== 'POST' || (await isLegacyRequest(await toWebRequest(request, body)));
    await (isLegacy ? legacy : modern)(request, response, body);
  }).listen(Number(port), '127.0.0.1');
}

const [transport, port] = process.argv.slice(2);
if (transport === 'stdio') serveStdio(build);
else listen(port);
