import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import { answerAll } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { failureOf, resultOf } from './content.js';
import { RPC, RpcError, type RpcId, sendResult } from './messages.js';
import { toolsOf } from './tools.js';

const callParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
});

/**
 * `tools/call`: asks the model. What the model refuses, or fails at, is a result with `isError`, which the caller's own model
 * reads and may mend.
 * @throws RpcError for a tool that is not there
 */
export async function callTool(call: DialectCall, id: RpcId, params: unknown): Promise<void> {
  const read = callParams.safeParse(params);
  if (!read.success) throw new RpcError(RPC.invalidParams, 'params: needs name, and arguments as an object');
  const { name, arguments: body } = read.data;
  const tool = toolsOf(call.host).find((each) => each.name === name);
  if (!tool)
    throw new RpcError(RPC.invalidParams, `name: there is no tool ${JSON.stringify(name.slice(0, 100))}`);
  try {
    for (const key of ['stream', 'json'])
      if (key in body) throw new RunError('invalid_input', `${key}: a tool answers as a whole; leave it out`);
    await answerAll(call, { model: tool.model, bodies: [body], names: {} }, ([answer]) =>
      sendResult(call.response, id, resultOf(answer!.output)),
    );
  } catch (error) {
    // A caller who has left is told nothing, and errors of ours are logged by the route.
    if (!(error instanceof RunError) || error.code === 'cancelled' || call.response.headersSent) throw error;
    call.response.locals['error'] = error;
    sendResult(call.response, id, failureOf(error.message));
  }
}
