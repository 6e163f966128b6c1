import { dialectChecks } from '../../builder/conformance/checks/dialects.js';
import { httpTransport } from '../../builder/conformance/http-transport.js';
import { resultOf, serverUnderTest } from '../../builder/conformance/run-checks.js';
import type { Transport } from '../../builder/conformance/transport.js';
import { openApiOf } from '../../runtime/boot/openapi.js';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { VERSION } from '../../runtime/version.js';
import { servePage } from '../browser/support/page-server.js';
import { zooModel, zooPlaces } from './zoo.js';

/** One model of each kind of interface in each run; CONFORMANCE=all takes minutes. */
const SOME: readonly TaskId[] = ['chat', 'feature-extraction', 'text-classification', 'text-to-image'];
const tasks = process.env['CONFORMANCE'] === 'all' ? TASK_IDS : SOME;

/** The server, but every answer to this route is empty. */
const emptied = (transport: Transport, method: string, path: string): Transport => ({
  async send(call) {
    const answer = await transport.send(call);
    const isIt = call.method === method && call.path.split('?')[0] === path;
    return isIt ? { ...answer, status: 200, bytes: Buffer.from('{}') } : answer;
  },
});

test.each(tasks)(
  'every route of every interface is checked on a real model of %s, and an empty answer noticed',
  async (task) => {
    const place = (await zooPlaces()).find((each) => each.task === task)!;
    const model = await zooModel(task, place.name, place.root);
    const about = { id: model.about.id, task, commit: '0'.repeat(40) };
    const server = await servePage(model, { openapi: () => openApiOf(about, VERSION) });
    try {
      const honest = httpTransport(server.address);
      const { server: asked } = await serverUnderTest(honest, { headers: {} });
      const checks = dialectChecks(asked.described);
      for (const check of checks) {
        const { passed, detail } = await resultOf(check, asked);
        expect({ check: check.name, passed, detail }).toMatchObject({ passed: true });
        const [, method, pattern] = /^\S+ (GET|POST) (\S+)$/.exec(check.name) ?? [];
        // An interface that has no words for the example, or for a model of this kind, is asked nothing.
        if (method === undefined || /no words|one for a text/.test(detail)) continue;
        const path = pattern!.replace('*id', about.id).replace(':version', '1');
        const faulty = await resultOf(check, { ...asked, transport: emptied(honest, method, path) });
        expect({ check: check.name, noticed: !faulty.passed }).toEqual({ check: check.name, noticed: true });
      }
    } finally {
      await server.close();
    }
  },
  300_000,
);
