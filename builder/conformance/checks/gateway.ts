import * as z from 'zod';
import type { Check } from '../check.js';
import { demand, outputOf, requireError, type ServerUnderTest, shown } from '../server.js';
import type { Transport } from '../transport.js';

/**
 * The gateway's own routes, and who may ask.
 * @param root the gateway itself
 * @param address path of the model
 */
export function gatewayChecks(root: Transport, address: string): Check[] {
  const ask = ({ headers }: ServerUnderTest, path: string, method = 'GET') =>
    root.send({ method, path, headers });
  return [
    ...['/health', '/livez'].map((path) =>
      check(`GET ${path}`, async (server) => String(outputOf(await ask(server, path)))),
    ),
    check('GET /version', async (server) => {
      const answer = await ask(server, '/version');
      demand(answer.status === 200, `expected 200: ${shown(answer)}`);
      return z.object({ version: z.string() }).parse(JSON.parse(answer.bytes.toString('utf8'))).version;
    }),
    check('list of models', async (server) => {
      const answer = await ask(server, '/models/v2/list/models');
      demand(answer.status === 200, `expected 200: ${shown(answer)}`);
      const { model, task } = server.described;
      const found = answer.bytes.includes(JSON.stringify(model));
      demand(found, `it does not name ${model}: ${shown(answer)}`);
      return `${model}, ${task}`;
    }),
    check('without a key', async (server) => {
      if (server.headers['authorization'] === undefined) return 'no key was given, so none is left out';
      const body = Buffer.from(JSON.stringify(server.golden));
      const headers = { 'content-type': 'application/json' };
      for (const given of [headers, { ...headers, authorization: 'Key no-such-key' }])
        requireError(await root.send({ method: 'POST', path: address, headers: given, body }), [401]);
      return 'refused: 401, and with a wrong one as well';
    }),
    check('an unknown model', async (server) => {
      const body = Buffer.from('{}');
      const headers = { ...server.headers, 'content-type': 'application/json' };
      const path = '/models/v2/no-such/model';
      return requireError(await root.send({ method: 'POST', path, headers, body }), [404]);
    }),
    check('404', async (server) => requireError(await ask(server, '/nowhere/at/all'), [404])),
    check('405', async (server) => {
      const answer = await ask(server, address, 'DELETE');
      requireError(answer, [405]);
      demand(Boolean(answer.headers['allow']?.includes('POST')), `no Allow with POST: ${shown(answer)}`);
      return 'with Allow';
    }),
  ];
}

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'routes', name, run };
}
