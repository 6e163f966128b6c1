import type { Response } from 'express';
import type { ModelAnswer, ServedModel } from '../host.js';
import { sendJson } from '../../wire/respond.js';
import { askAll, askModel, setModelHeaders, sumTokens } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { mediaOf, valueOf } from '../media.js';
import { hfAnswer } from './answers.js';
import { streamTokens, withDetails } from './generate.js';
import { type HfRequest, readHfRequest } from './read.js';
import { asksSimilarity, sentencesOf, similarities } from './similarity.js';
import { translateRequest } from './translate.js';

/** Inputs of one request that are sent to the model at the same time. */
const MAX_CONCURRENT = 16;

const NAMES = { text: 'inputs', messages: 'inputs', base64: 'inputs', url: 'inputs' };

/** POST to a model's own address, as the Inference API has it. */
export async function runInference(call: DialectCall): Promise<void> {
  const [model] = call.host.models();
  const request = await readHfRequest(call, model!, call.host.bodyOptions([model!.task], true));
  await answerInference(call, model!, request);
}

/** @throws RunError as POST /run does */
export async function answerInference(call: DialectCall, model: ServedModel, hf: HfRequest): Promise<void> {
  if (asksSimilarity(hf.inputs)) return compareSentences(call, model, hf);
  const { details, ...parameters } = hf.parameters;
  const translated = translateRequest(model.task, { ...hf, parameters });
  if (details === true) for (const body of translated.bodies) withLogprobs(body);
  const { bodies, files, isList } = translated;
  const { host, request, response } = call;
  await askModel(host, response, { model, bodies, files, names: NAMES }, async (asked) => {
    if (hf.stream) return streamTokens(call, asked, bodies[0]!);
    const all = await askAll(asked, bodies, MAX_CONCURRENT);
    setModelHeaders(response, asked);
    countTokens(call, all);
    const medium = isList ? undefined : mediaOf(all[0]!.output);
    if (medium) return sendBytes(response, medium);
    const isJavaScript = /@huggingface\/inference/.test(request.headers['user-agent'] ?? '');
    const answers = all.map((answer) => {
      const shaped = hfAnswer(model.task, valueOf(answer.output), isJavaScript);
      return details === true ? withDetails(shaped, answer) : shaped;
    });
    sendJson(response, 200, JSON.stringify(joined(answers, { model, isList })));
  });
}

/** TGI's `details` tell each token. */
function withLogprobs(body: Record<string, unknown>): void {
  body['params'] = { ...(body['params'] as object), logprobs: 0 };
}

/** One input's answer alone, but for classifiers of texts, whose clients want a list of lists. */
function joined(answers: unknown[], { model, isList }: { model: ServedModel; isList: boolean }): unknown {
  if (model.task === 'text-classification') return answers;
  if (!isList) return answers[0];
  // Texts come as lists of one.
  return TEXTS.has(model.task) ? answers.flat() : answers;
}

const TEXTS: ReadonlySet<string> = new Set([
  ...['text-generation', 'text2text-generation', 'summarization', 'translation', 'chat'],
]);

function sendBytes(response: Response, { mediaType, media }: { mediaType: string; media: Uint8Array }): void {
  response.statusCode = 200;
  response.setHeader('Content-Type', mediaType);
  response.setHeader('Content-Length', media.length);
  response.end(media);
}

async function compareSentences(call: DialectCall, model: ServedModel, hf: HfRequest): Promise<void> {
  const { host, response } = call;
  const params = translateRequest(model.task, { ...hf, inputs: '' }).bodies[0]!['params'];
  const bodies = sentencesOf(hf.inputs).map((text) => ({ text, params }));
  await askModel(host, response, { model, bodies, names: NAMES }, async (asked) => {
    const all = await askAll(asked, bodies, MAX_CONCURRENT);
    setModelHeaders(response, asked);
    countTokens(call, all);
    const vectors = all.map(({ output }) => output as number[]);
    sendJson(response, 200, JSON.stringify(similarities(vectors)));
  });
}

function countTokens({ host, response }: DialectCall, all: readonly ModelAnswer[]): void {
  const tokens = sumTokens(all.map(({ usage }) => usage));
  if (tokens) host.count(response, tokens);
}
