import * as z from 'zod';
import type { Check } from '../check.js';
import { demand, get, outputOf, post, type ServerUnderTest } from '../server.js';

/** What has to hold when all other checks have been made. @param restartsBefore of the model process */
export function afterChecks(restartsBefore: number): Check[] {
  return [
    check('still ready', async (server) => {
      demand(outputOf(await get(server, '/health')) === 'ready', 'the server is not ready any more');
      outputOf(await post(server, server.golden));
      return 'it answers as before';
    }),
    check('no crash', async (server) => {
      const { engine_restarts: restarts } = RESTARTS.parse(outputOf(await get(server, '/status')));
      demand(
        restarts === restartsBefore,
        `the model process was started again ${restarts - restartsBefore} times`,
      );
      return 'the model process was not started again';
    }),
    check('counted', async (server) => {
      const metrics = (await get(server, '/metrics')).bytes.toString('utf8');
      const count = /^slipway_requests_total\{route="\/run",status="200",[^}]*\} (\d+)$/m.exec(metrics)?.[1];
      demand(Number(count) > 0, '/metrics counts no answers of /run with status 200');
      return `/metrics counts ${count} answers of /run`;
    }),
  ];
}

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'after', name, run };
}

const RESTARTS = z.object({ engine_restarts: z.int() });
