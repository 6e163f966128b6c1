import type { RequestListener } from 'node:http';
import { createLogger } from '../../runtime/log.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { waitFor } from '../fakes/server.js';

afterEach(closeServers);

test.each([
  ['application/json', false],
  ['text/event-stream', true],
])('what a model says in broken %s does not get into the log', async (type, stream) => {
  const lines: string[] = [];
  const logger = createLogger('json', 'silent');
  logger.error = ((facts: object, line: string) => lines.push(JSON.stringify(facts) + line)) as never;
  const container: RequestListener = (request, response) => {
    request.resume();
    response.setHeader('Content-Type', type).end(`${stream ? 'data: ' : ''}private words\n\n`);
  };
  const base = await gateway({ container, parts: { logger } });
  const answer = await fetch(`${base}/openai/v1/completions`, {
    method: 'POST',
    headers: { authorization: secret, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'org/name', prompt: 'x', stream }),
  });
  // A stream that breaks off is cut.
  await answer.text().catch(() => undefined);
  await waitFor(() => lines.length > 0);
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('private');
});
