import { isTaskId } from '../../runtime/core/task-ids.js';
import { runnableExample } from '../../runtime/tasks/example.js';
import { taskOf } from '../../runtime/tasks/registry.js';
import { BuilderError } from '../exit.js';
import { catalogChecks, dialectChecks } from './checks/dialects.js';
import { gatewayChecks } from './checks/gateway.js';
import { httpTransport } from './http-transport.js';
import { describedBy } from './meet.js';
import { type Conformance, goldenOf, makeChecks, modelChecks, type RunOptions } from './run-checks.js';
import type { ServerUnderTest } from './server.js';
import type { Transport } from './transport.js';

/** Where a gateway's models lie, each below its id. */
const MODELS = '/models/v2';

/**
 * Makes the checks of one model behind a gateway: below the model's own address, and at the root, where requests name it.
 * @throws BuilderError `failure` when the gateway does not describe such a model
 */
export async function runGatewayChecks(
  gateway: string,
  model: string,
  options: Omit<RunOptions, 'recorded'>,
): Promise<Conformance> {
  const base = gateway.replace(/\/+$/, '');
  const transport = modelTransport(base, model);
  const described = await describedBy(transport, options.headers);
  if (!isTaskId(described.task))
    throw new BuilderError('failure', `${model} does ${described.task}: not known here`);
  const example = runnableExample(taskOf(described.task));
  const golden = goldenOf(described, example);
  const server: ServerUnderTest = {
    ...{ transport, headers: options.headers, described, example, golden },
  };
  const checks = [
    ...gatewayChecks(httpTransport(base), `${MODELS}/${model}`),
    ...modelChecks(described),
    ...dialectChecks(described),
    ...catalogChecks(described, atRoot(base, transport)),
  ];
  return { described, results: await makeChecks(checks, server, options) };
}

/** POST /run goes to the model's address, and all other paths lie below it. */
function modelTransport(base: string, model: string): Transport {
  const { send } = httpTransport(`${base}${MODELS}/${model}`);
  return { send: (call) => send({ ...call, path: call.path === '/run' ? '' : call.path }) };
}

/** POST /run goes to the model, all other paths to the root of the gateway. */
function atRoot(base: string, model: Transport): Transport {
  const root = httpTransport(base);
  return { send: (call) => (call.path === '/run' ? model : root).send(call) };
}
