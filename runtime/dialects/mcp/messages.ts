import type { Response } from 'express';
import * as z from 'zod';
import type { ErrorCode, RunError } from '../../core/errors.js';
import { sendJson, setRetryAfter } from '../../wire/respond.js';

/** Codes of JSON-RPC 2.0. */
export const RPC = {
  parse: -32700,
  invalidRequest: -32600,
  noMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
} as const;

/** A request, or a notification, which has no id. What else a client sends is an answer to a question that we never ask. */
export const rpcMessage = z.looseObject({
  jsonrpc: z.literal('2.0', { error: 'must be "2.0"' }),
  id: z.union([z.string(), z.number()]).optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.unknown()).optional(),
});

export type RpcMessage = z.output<typeof rpcMessage>;

/** A failure that JSON-RPC tells, as against one of a tool. */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

export type RpcId = string | number | null;

export function sendResult(response: Response, id: RpcId, result: object): void {
  sendJson(response, 200, JSON.stringify({ jsonrpc: '2.0', id, result }));
}

/** @param status of HTTP: 200 where the message itself was one that can be answered */
export function sendFailure(
  response: Response,
  { id, status, code, message }: { id: RpcId; status: number; code: number; message: string },
): void {
  sendJson(response, status, JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } }));
}

const CODES: Partial<Record<ErrorCode, number>> = {
  invalid_input: RPC.invalidRequest,
  not_found: RPC.invalidRequest,
  method_not_allowed: RPC.invalidRequest,
};

/** Errors of the route: no key, no JSON, too long a body. */
export function sendMcpError(response: Response, error: RunError): void {
  setRetryAfter(response, error);
  const code = CODES[error.code] ?? RPC.internal;
  sendFailure(response, { id: null, status: error.status, code, message: error.message });
}
