import { RunError } from '../../core/errors.js';
import { TASKS } from '../../tasks/registry.js';
import type { ServedModel } from '../host.js';
import { sendJson, sendMedia } from '../../wire/respond.js';
import { answerAll, askModel } from '../ask.js';
import type { DialectCall } from '../dialect.js';
import { vectorsOf } from '../embed.js';
import { dropNullish } from '../fields.js';
import { mediaOf, valueOf } from '../media.js';
import { hfAnswer } from './answers.js';
import { type Details, streamTokens, withDetails } from './generate.js';
import { type HfRequest, readHfRequest } from './read.js';
import { asksSimilarity, sentencesOf, similarities } from './similarity.js';
import { translateRequest } from './translate.js';

/** How callers call the fields of POST /run. */
export const NAMES = {
  text: 'inputs',
  messages: 'inputs',
  base64: 'inputs',
  url: 'inputs',
  logprobs: 'top_n_tokens',
  prompt_logprobs: 'decoder_input_details',
};

/** POST to a model's own address, as the Inference API has it. */
export async function runInference(call: DialectCall): Promise<void> {
  const [model] = call.host.models();
  const request = await readHfRequest(call, model!, call.host.bodyOptions([model!.task], true));
  await answerInference(call, model!, request);
}

/** GET ping: SageMaker's probe. */
export function ping({ response, host }: DialectCall): void {
  const isReady = host.ready();
  sendJson(response, isReady ? 200 : 503, JSON.stringify({ status: isReady ? 'healthy' : 'unhealthy' }));
}

/** @throws RunError as POST /run does */
export async function answerInference(call: DialectCall, model: ServedModel, hf: HfRequest): Promise<void> {
  if (asksSimilarity(hf.inputs)) return compareSentences(call, model, hf);
  const { parameters, details } = detailsOf(hf);
  const translated = translateRequest(model.task, { ...hf, parameters });
  if (details) for (const body of translated.bodies) withLogprobs(body, details, hf.stream);
  const { bodies, files, isList } = translated;
  const { host, request, response } = call;
  const asking = { model, bodies, files, names: NAMES };
  if (hf.stream && isList) throw new RunError('invalid_input', 'stream: takes one input, not a list');
  if (hf.stream && TASKS[model.task].streams)
    return askModel(host, response, asking, (asked) =>
      streamTokens(call, asked, { body: bodies[0]!, details }),
    );
  await answerAll(call, asking, (all) => {
    const medium = isList ? undefined : mediaOf(all[0]!.output);
    if (medium) return sendMedia(response, medium, { raw: true });
    const isJavaScript = /@huggingface\/inference/.test(request.headers['user-agent'] ?? '');
    const answers = all.map((answer) => {
      const shaped = hfAnswer(model.task, valueOf(answer.output), isJavaScript);
      return details ? withDetails(shaped, answer, details) : shaped;
    });
    sendJson(response, 200, JSON.stringify(joined(answers, { model, isList })));
  });
}

/** What of TGI's `details` is wanted. In a stream the end has them by itself; what is asked of them is told of each token. */
function detailsOf({ parameters, stream }: HfRequest): {
  parameters: Record<string, unknown>;
  details: Details | undefined;
} {
  const { details, decoder_input_details, top_n_tokens, ...rest } = parameters;
  // What is left over is refused by its name.
  if (details !== true)
    return {
      parameters: { ...rest, ...dropNullish({ decoder_input_details, top_n_tokens }) },
      details: undefined,
    };
  if (stream && decoder_input_details === true)
    throw new RunError('invalid_input', 'decoder_input_details: a stream has none; ask without stream');
  const top = typeof top_n_tokens === 'number' ? top_n_tokens : 0;
  return { parameters: rest, details: { prefill: decoder_input_details === true, top } };
}

/** TGI's `details` tell each token. */
function withLogprobs(body: Record<string, unknown>, { prefill, top }: Details, streams: boolean): void {
  const others = { ...(prefill ? { prompt_logprobs: 0 } : {}), ...(streams ? { stream_tokens: true } : {}) };
  body['params'] = { ...(body['params'] as object), logprobs: top, ...others };
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

async function compareSentences(call: DialectCall, model: ServedModel, hf: HfRequest): Promise<void> {
  const { response } = call;
  const params = translateRequest(model.task, { ...hf, inputs: '' }).bodies[0]!['params'];
  const bodies = sentencesOf(hf.inputs).map((text) => ({ text, params }));
  await answerAll(call, { model, bodies, names: NAMES }, (all) =>
    sendJson(response, 200, JSON.stringify(similarities(vectorsOf(all)))),
  );
}
