import type { Check } from '../check.js';
import { differenceOf } from '../../verify/answer.js';
import { CheckFailure, demand, outputOf, post, type ServerUnderTest, shown } from '../server.js';
import { requireSchema } from './output-schema.js';

/** Answers of the model to its own examples. */
export const ANSWER_CHECKS: readonly Check[] = [
  check('golden request', async (server) => {
    const output = requireSchema(server, await post(server, server.recorded?.request ?? server.golden));
    if (server.recorded === undefined) return summary(output);
    requireEqual({ error: null, output }, server.recorded.body, 'the recorded answer');
    return 'as recorded when the image was sealed, within 0.001';
  }),
  check('example of /status', async (server) =>
    summary(requireSchema(server, await post(server, server.example))),
  ),
  check('example of /openapi.json', async (server) => {
    const { url, ...rest } = server.described.example;
    // An address of the web is nothing to a server without a network: the model's own medium stands for it.
    const medium = url === undefined ? {} : { base64: server.example['base64'] };
    const body =
      'messages' in rest ? { ...rest, messages: server.example['messages'] } : { ...rest, ...medium };
    return summary(requireSchema(server, await post(server, body)));
  }),
  check('input shorthand', async (server) => {
    const { params, ...input } = server.golden;
    const short = outputOf(await post(server, { input, ...(params === undefined ? {} : { params }) }));
    requireEqual(short, outputOf(await post(server, server.golden)), 'the answer without "input"');
    return 'the same answer for fields under "input"';
  }),
  check('repeat', async (server) => {
    const first = await post(server, server.golden);
    outputOf(first);
    for (let i = 0; i < 2; i++) {
      const again = await post(server, server.golden);
      demand(again.bytes.equals(first.bytes), `another answer to the same request: ${shown(again)}`);
    }
    return 'three times the same bytes';
  }),
  check('together', async (server) => {
    const alone = outputOf(await post(server, server.golden));
    const crowd = await Promise.all([1, 2, 3].map(() => post(server, server.golden)));
    for (const answer of crowd) requireEqual(outputOf(answer), alone, 'the answer alone');
    return 'three at once answer as one alone, within 0.001';
  }),
  check('stream', async (server) => {
    const answer = await post(server, { ...server.golden, stream: true });
    if (!server.described.streams) {
      outputOf(answer);
      return `${server.described.task} does not stream: the flag is ignored`;
    }
    demand(answer.status === 200, `expected 200: ${shown(answer)}`);
    const type = answer.headers['content-type'];
    demand(type === 'text/plain; charset=utf-8', `not plain text: ${shown(answer)}`);
    const whole = textOf(outputOf(await post(server, server.golden)));
    const streamed = answer.bytes.toString('utf8');
    // A stream has what is new; the answer of text generation begins with the prompt.
    demand(whole.endsWith(streamed), `the stream is not the end of the answer: ${shown(answer)}`);
    return `the same text in ${answer.bytes.length} bytes`;
  }),
  check('events', async (server) => {
    if (!server.described.streams) return `${server.described.task} does not stream`;
    const headers = { accept: 'text/event-stream' };
    const answer = await post(server, { ...server.golden, stream: true }, { headers });
    demand(
      Boolean(answer.headers['content-type']?.startsWith('text/event-stream')),
      `no events: ${shown(answer)}`,
    );
    const final = finalEvent(answer.bytes.toString('utf8'));
    requireEqual(final, outputOf(await post(server, server.golden)), 'the answer without a stream');
    return 'the last event has the whole answer';
  }),
  check('raw medium', async (server) => {
    const { makes } = server.described;
    if (makes === undefined) return `${server.described.task} makes no medium`;
    const answer = await post(server, { ...server.golden, json: true });
    const type = answer.headers['content-type'] ?? '';
    demand(answer.status === 200 && type.startsWith(`${makes}/`), `not ${makes}/…: ${shown(answer)}`);
    const url = String(outputOf(await post(server, server.golden)));
    const same = url === `data:${type};base64,${answer.bytes.toString('base64')}`;
    demand(same, 'the medium is not the one in the envelope');
    return `${type}, ${answer.bytes.length} bytes, the same as in the envelope`;
  }),
];

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'answers', name, run };
}

function requireEqual(found: unknown, wanted: unknown, what: string): void {
  const difference = differenceOf(found, wanted);
  if (difference !== undefined) throw new CheckFailure(`not ${what}: ${difference}`);
}

function textOf(output: unknown): string {
  if (typeof output === 'string') return output;
  return String((output as { content?: unknown } | null)?.content);
}

function finalEvent(text: string): unknown {
  const [, data] = /^event: final\ndata: (.*)$/m.exec(text) ?? [];
  if (data === undefined) throw new CheckFailure('there is no event "final"');
  return (JSON.parse(data) as { output: unknown }).output;
}

const LONGEST = 60;

function summary(output: unknown): string {
  const text = JSON.stringify(output) ?? 'nothing';
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}
