import { randomFillSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Check } from '../check.js';
import { CheckFailure, outputOf, post, postRaw, requireError, type ServerUnderTest } from '../server.js';
import { refusedBy } from '../values.js';

/** A body that is no JSON object: what is sent, by its name. */
const NO_OBJECTS: readonly (readonly [name: string, body: string | Buffer])[] = [
  ['cut off', '{"text": "a'],
  ['two documents', '{} {}'],
  ['NaN', '{"text": NaN}'],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])],
  ['an array', '[1]'],
  ['a string', '"a"'],
];

/** Bodies that a server has to refuse, each with an error that says why, and bodies at the edge. */
export const BODY_CHECKS: readonly Check[] = [
  check('malformed JSON', async (server) => {
    for (const [name, body] of NO_OBJECTS) await explained(name, () => refused(server, body, [400]));
    return NO_OBJECTS.map(([name]) => name).join(', ');
  }),
  check('deep nesting', async (server) => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    return refused(server, `{"params": ${deep}}`, [400]);
  }),
  check('empty input', async (server) => {
    if (needsNothing(server)) return `${server.described.task} needs no input`;
    for (const body of [{}, { params: {} }, { no_such_field: 1 }, { input: {} }])
      requireError(await post(server, body), [400]);
    return requireError(await post(server, {}), [400]);
  }),
  check('missing fields', async (server) => {
    const required = requiredOf(server);
    for (const name of required) {
      const { [name]: _, ...rest } = server.example;
      requireError(await post(server, rest), [400, 422], name);
    }
    return required.length === 0 ? 'no field is needed by itself' : `refused without ${required.join(', ')}`;
  }),
  check('wrong types', async (server) => {
    const seen: string[] = [];
    for (const [name, schema] of Object.entries(server.described.fields)) {
      for (const value of refusedBy(schema)) {
        const body = { ...server.example, [name]: value };
        await explained(`${name}: ${JSON.stringify(value)}`, async () =>
          requireError(await post(server, body), [400, 415, 422], name),
        );
        seen.push(name);
      }
    }
    return `refused by name: ${[...new Set(seen)].join(', ')}`;
  }),
  check('unknown parameter', async (server) => {
    const body = { ...server.example, params: { no_such_parameter: 1 } };
    return requireError(await post(server, body), [400], 'no_such_parameter');
  }),
  check('misplaced parameter', async (server) => {
    const name = Object.keys(server.described.params).find((param) => !(param in server.described.fields));
    if (name === undefined) return 'there are no parameters';
    return requireError(await post(server, { ...server.example, [name]: 1 }), [400], name, 'params');
  }),
  check('empty and strange texts', async (server) => {
    const texts = Object.entries(server.example).filter(([, value]) => typeof value === 'string');
    const statuses: number[] = [];
    for (const [name] of texts)
      for (const value of ['', ' ', '\u0000', '\ud83d\ude00\u200f\u0301', '\\ud800'])
        statuses.push(await answered(server, { ...server.golden, [name]: value }));
    return statuses.length === 0
      ? 'no field is a text'
      : `answered with ${[...new Set(statuses)].sort((a, b) => a - b).join(', ')}`;
  }),
  check('media that are none', async (server) => {
    if (!('base64' in server.example)) return `${server.described.task} takes no single medium`;
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('base64');
    for (const base64 of ['AAAA', svg, '!'])
      requireError(await post(server, { ...server.example, base64 }), [400, 415, 422]);
    return 'zeros, SVG and what is no Base64 are refused';
  }),
  check('415', async (server) => {
    const body = JSON.stringify(server.example);
    requireError(await postRaw(server, body, { type: 'text/plain' }), [415]);
    const packed = await postRaw(server, body, { headers: { 'content-encoding': 'x-none' } });
    requireError(packed, [415]);
    return 'for another content type or encoding';
  }),
  check('413', async (server) => {
    const headers = { 'content-encoding': 'gzip' };
    const answer = await postRaw(server, hugeBody(), { headers });
    return requireError(answer, [413], 'MAX_BODY_BYTES');
  }),
  check('gzip', async (server) => {
    const body = gzipSync(JSON.stringify(server.golden));
    outputOf(await postRaw(server, body, { headers: { 'content-encoding': 'gzip' } }));
    return 'a compressed body is taken';
  }),
];

function check(name: string, run: (server: ServerUnderTest) => Promise<string>): Check {
  return { group: 'bodies', name, run };
}

async function refused(server: ServerUnderTest, body: string | Buffer, statuses: number[]): Promise<string> {
  return requireError(await postRaw(server, body), statuses);
}

/** Adds to a failure which of several bodies it was. */
async function explained(what: string, run: () => Promise<unknown>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof CheckFailure) throw new CheckFailure(`${what}: ${error.message}`);
    throw error;
  }
}

/** An answer or an error that blames the caller, but never a failure of the server. */
async function answered(server: ServerUnderTest, body: unknown): Promise<number> {
  const answer = await post(server, body);
  if (answer.status === 200) outputOf(answer);
  else requireError(answer, [400, 413, 415, 422]);
  return answer.status;
}

function needsNothing({ described }: ServerUnderTest): boolean {
  return requiredNames(described.request).length === 0 && described.request['anyOf'] === undefined;
}

function requiredOf({ described, example }: ServerUnderTest): string[] {
  return requiredNames(described.request).filter((name) => name in example);
}

function requiredNames(request: ServerUnderTest['described']['request']): string[] {
  const { required } = request as { required?: string[] };
  return required ?? [];
}

/** Lengths of one member and of the whole body, which is sent as 1 % of that: servers refuse bodies that are packed too well. */
const [MEMBER, MEMBERS] = [64 * 2 ** 20, 4];
const BLANKS = 1024;

let huge: Buffer | undefined;

/** 256 MiB, more than any server takes by default. Made once, as packing it takes seconds. */
function hugeBody(): Buffer {
  return (huge ??= packHuge());
}

function packHuge(): Buffer {
  const bytes = Buffer.alloc(MEMBER, ' ');
  for (let at = 0; at < MEMBER; at += BLANKS) randomFillSync(bytes, at, BLANKS / 128);
  return Buffer.concat(new Array<Buffer>(MEMBERS).fill(gzipSync(bytes, { level: 1 })));
}
