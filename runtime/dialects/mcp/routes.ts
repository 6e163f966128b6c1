import type { Request, Response } from 'express';
import { RunError } from '../../core/errors.js';
import { VERSION } from '../../version.js';
import { readJsonBody } from '../../wire/json-body.js';
import type { Dialect, DialectCall } from '../dialect.js';
import { callTool } from './call.js';
import {
  RPC,
  RpcError,
  type RpcId,
  type RpcMessage,
  rpcMessage,
  sendFailure,
  sendMcpError,
  sendResult,
} from './messages.js';
import { toolDescription, toolsOf } from './tools.js';

/** Versions of the protocol that say the same of all that is here, the newest first. */
const VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26'];

/** One message, one answer: there are no sessions, and the server never speaks first. */
async function receive(call: DialectCall): Promise<void> {
  const { request, response, host } = call;
  if (!isOwnPage(request, response)) {
    const message = 'pages of this origin may not call this server; the operator can allow them';
    return sendFailure(response, { id: null, status: 403, code: RPC.invalidRequest, message });
  }
  requireVersion(request);
  const tasks = [...new Set(host.models().map(({ task }) => task))];
  const { json } = await readJsonBody(request, response, {
    ...host.bodyOptions(tasks),
    pythonNumbers: false,
  });
  const message = messageOf(json);
  // Notifications, and answers to questions that were never asked.
  if (message.id === undefined || message.method === undefined) return void response.status(202).end();
  try {
    await answer(call, { ...message, id: message.id, method: message.method });
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    sendFailure(response, { id: message.id, status: 200, code: error.code, message: error.message });
  }
}

interface RpcRequest extends RpcMessage {
  id: string | number;
  method: string;
}

async function answer(call: DialectCall, { id, method, params }: RpcRequest): Promise<void> {
  const { response, host } = call;
  if (method === 'tools/call') return callTool(call, id, params);
  sendResult(response, id, resultFor(method, params, host));
}

/** @throws RpcError for a method that is not offered */
function resultFor(method: string, params: RpcMessage['params'], host: DialectCall['host']): object {
  if (method === 'initialize') return initialized(params?.['protocolVersion']);
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: toolsOf(host).map(toolDescription) };
  throw new RpcError(
    RPC.noMethod,
    `there is no method ${JSON.stringify(method.slice(0, 100))}; there are tools`,
  );
}

/** The version that the client asks for, where it is known; else ours, which it may decline. */
function initialized(asked: unknown): object {
  return {
    protocolVersion: VERSIONS.includes(asked as string) ? asked : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'slipway', version: VERSION },
  };
}

/** @throws RunError 400 */
function requireVersion({ headers }: Request): void {
  const asked = headers['mcp-protocol-version'];
  if (asked !== undefined && !VERSIONS.includes(String(asked)))
    throw new RunError('invalid_input', `MCP-Protocol-Version: can be ${VERSIONS.join(', ')}`);
}

/** Pages of other origins could reach a server of the local network by its name alone: only those that are allowed. */
function isOwnPage({ headers }: Request, response: Response): boolean {
  const { origin, host } = headers;
  if (origin === undefined || response.hasHeader('Access-Control-Allow-Origin')) return true;
  return URL.canParse(origin) && new URL(origin).host === host;
}

/** @throws RunError 400 */
function messageOf(json: unknown): RpcMessage & { id?: Exclude<RpcId, null> } {
  if (Array.isArray(json))
    throw new RunError('invalid_input', 'one message at a time: batches are not taken');
  const read = rpcMessage.safeParse(json);
  if (read.success) return read.data;
  const { path, message } = read.error.issues[0]!;
  throw new RunError('invalid_input', `${path.join('.') || 'message'}: ${message}`);
}

/** Model Context Protocol: each model is a tool whose arguments are the body of POST /run. */
export const modelContext: Dialect = {
  name: 'mcp',
  title: 'Model Context Protocol',
  sendError: sendMcpError,
  routes: [
    {
      ...{ method: 'POST', path: '/mcp', summary: 'One message: the models are tools' },
      body: rpcMessage,
      handle: receive,
    },
  ],
};
