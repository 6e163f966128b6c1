import * as z from 'zod';
import { differenceOf } from '../../verify/answer.js';
import { CheckFailure, demand, post, type ServerUnderTest } from '../server.js';
import type { Answer } from '../transport.js';
import { besideRun, jsonOf, type Recipe, requireSame } from './recipe.js';

/** Fields of POST /run that this interface has beside the inputs, or among its parameters. */
const FIELDS = ['candidate_labels', 'question'];

/** The golden request as the clients of Hugging Face send it; undefined where they have no words for it. */
function hfRequest({ golden }: ServerUnderTest): Record<string, unknown> | undefined {
  const { params = {}, messages, text, base64, ...rest } = golden;
  const parameters = { ...(params as object) };
  const names = Object.keys(rest);
  if (names.length === 2 && names.every((name) => name === 'question' || name === 'context'))
    return { inputs: rest, parameters };
  if (!names.every((name) => FIELDS.includes(name))) return undefined;
  const { question, ...labels } = rest;
  return {
    ...{ inputs: messages ?? text ?? base64 ?? '', parameters: { ...parameters, ...labels } },
    ...(question === undefined ? {} : { question }),
  };
}

/** What this interface asks for by itself, where POST /run does not. */
const STANDARD: Readonly<Record<string, Record<string, unknown>>> = {
  'text-classification': { top_k: null },
  'token-classification': { aggregation_strategy: 'simple' },
  'text-generation': { return_full_text: false },
};

const standardRun = ({ golden, described }: ServerUnderTest): Record<string, unknown> => ({
  ...golden,
  params: { ...STANDARD[described.task], ...(golden['params'] as object | undefined) },
});

const NO_WORDS = 'it has no words for the fields of the example';

/** The shapes of this interface differ by task; each tells what POST /run tells, and nothing else. */
function hf(body: (request: Record<string, unknown>) => unknown, answerIn: z.ZodType): Recipe {
  return async (server, path) => {
    const request = hfRequest(server);
    if (!request) return NO_WORDS;
    const question = {
      run: standardRun(server),
      ask: () => post(server, body(request), { path }),
    };
    return besideRun(server, question, (answer, output) => {
      const content = answerIn.parse(contentOf(answer));
      requireWithin(content, output);
      return content;
    });
  };
}

export const inference = hf((request) => request, z.unknown());
export const vertex = hf(
  (request) => ({ instances: [request] }),
  z.object({ predictions: z.array(z.unknown()).length(1) }).transform(({ predictions }) => predictions[0]),
);

/** A medium as POST /run tells it, else JSON. */
function contentOf(answer: Answer): unknown {
  const type = answer.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) return jsonOf(answer);
  return `data:${type};base64,${answer.bytes.toString('base64')}`;
}

/** @throws CheckFailure unless every text and number is one that POST /run tells, and there are some where it tells some */
function requireWithin(content: unknown, output: unknown): void {
  const [found, wanted] = [leavesOf(content), leavesOf(output)];
  if (wanted.length === 0) return requireSame(content, output);
  demand(found.length > 0, 'it tells nothing, and POST /run something');
  const texts = new Set(wanted.filter((leaf) => typeof leaf === 'string'));
  const numbers = wanted.filter((leaf) => typeof leaf === 'number');
  const isTold = (leaf: unknown) =>
    typeof leaf === 'number'
      ? numbers.some((number) => differenceOf(leaf, number) === undefined)
      : texts.has(String(leaf));
  const strange = [...new Set(found)].find((leaf) => !isTold(leaf));
  if (strange !== undefined)
    throw new CheckFailure(`POST /run does not say ${JSON.stringify(strange).slice(0, 100)}`);
}

/** Texts and numbers of a JSON value, in their order. */
function leavesOf(value: unknown): (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(leavesOf) : [];
}

/** The model as a tool: its arguments are the body of POST /run. */
export const toolCall: Recipe = async (server, path) => {
  const call = (method: string, params?: object) =>
    post(
      server,
      { jsonrpc: '2.0', id: 1, method, ...(params && { params }) },
      { path, headers: { accept: 'application/json, text/event-stream' } },
    );
  const { tools } = TOOLS.parse(jsonOf(await call('tools/list'))).result;
  const tool = tools.find(({ title }) => title.endsWith(`: ${server.described.model}`));
  demand(tool !== undefined, `tools/list does not name ${server.described.model}`);
  const { stream: _, json: __, ...given } = server.golden;
  const question = { run: given, ask: () => call('tools/call', { name: tool.name, arguments: given }) };
  return besideRun(server, question, (answer, output) => {
    const { structuredContent, content } = RESULT.parse(jsonOf(answer)).result;
    if (structuredContent) requireSame(structuredContent.output, output);
    else {
      const { data = content[0]?.resource?.blob, mimeType = content[0]?.resource?.mimeType } = content[0]!;
      requireSame(`data:${mimeType};base64,${data}`, output);
    }
    return tool.name;
  });
};

const TOOLS = z.object({
  result: z.object({ tools: z.array(z.object({ name: z.string(), title: z.string() })).min(1) }),
});
const MEDIUM = z.object({ blob: z.string(), mimeType: z.string() });
const RESULT = z.object({
  result: z.object({
    isError: z.literal(false).optional(),
    structuredContent: z.object({ output: z.unknown() }).optional(),
    content: z
      .array(
        z.looseObject({
          data: z.string().optional(),
          mimeType: z.string().optional(),
          resource: MEDIUM.optional(),
        }),
      )
      .min(1),
  }),
});

/** POST infer: one row, each text of the golden request as a tensor. */
export const infer: Recipe = async (server, path) => {
  const { params, ...fields } = server.golden;
  const names = Object.entries(fields);
  if (names.length === 0 || names.some(([, value]) => typeof value !== 'string')) return NO_WORDS;
  const inputs = names.map(([name, value]) => ({ name, shape: [1], datatype: 'BYTES', data: [value] }));
  const body = { id: '1', inputs, ...(params === undefined ? {} : { parameters: params }) };
  const question = { run: server.golden, ask: () => post(server, body, { path }) };
  return besideRun(server, question, (answer, output) => {
    const [tensor] = TENSORS.parse(jsonOf(answer)).outputs;
    const { datatype, shape, data } = tensor!;
    if (datatype === 'FP32') requireSame(data, output);
    else requireSame(tensorValue(String(data[0]), output), output);
    return `${datatype} ${JSON.stringify(shape)}`;
  });
};

const TENSORS = z.object({
  outputs: z
    .array(z.object({ datatype: z.string(), shape: z.array(z.int()), data: z.array(z.unknown()).min(1) }))
    .length(1),
});

/** Texts are themselves, media are Base64, all else is JSON. */
function tensorValue(text: string, output: unknown): unknown {
  if (typeof output !== 'string') return JSON.parse(text);
  const [head] = /^data:[^,]*,/.exec(output) ?? [''];
  return head + text;
}
