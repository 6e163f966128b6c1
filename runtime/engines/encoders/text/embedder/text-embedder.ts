import { namedPrompt, promptBefore } from '../../../repository/sentence-prompts.js';
import { RunError } from '../../../../core/errors.js';
import type { EncodeOptions, Pooling, TextEmbedder } from '../../../../core/handles/index.js';
import type { LoadRequest } from '../../../../core/load-request.js';
import { firstNumber, type Json } from '../../../repository/model-folder.js';
import { openPatientTokenizer } from '../../../long-texts/thread-aside.js';
import type { PatientTokenizer, TokenizerFacts } from '../../../tokenizers/patient-tokenizer.js';
import { type Encoding, loadTokenizer } from '../../../tokenizers/tokenizer.js';
import {
  checkEmbedderOutputs,
  hiddenStates,
  onlyVector,
  poolsItself,
  sentenceVector,
} from './embedder-outputs.js';
import { applyPoolings, normalizeVector } from './pooling.js';
import { readSentenceModules, type SentenceModules } from './sentence-modules.js';
import { type InputLimits, lowerLimit } from '../encoder/input-limits.js';
import { readersIn } from '../../../repository/named-readers.js';
import { loadMessageReader } from './message-reader.js';
import type { Port } from '../../../sessions/tensors.js';
import { openTextModel } from '../encoder/text-encoder.js';

const LOWER_CASE = { lowerCase: true };

/** Encoders that give hidden states [1, tokens, width], or already pool inside the graph. */
export async function loadTextEmbedder(request: LoadRequest): Promise<TextEmbedder> {
  const [{ config, encoder, tokenizer, limits }, modules] = await Promise.all([
    openTextModel(request),
    readSentenceModules(request.dir),
  ]);
  checkEmbedderOutputs(encoder.outputs);
  if (request.spec.task === 'sentence-similarity') checkPooling(modules, encoder.outputs);
  const sentenceTokenizer = modules.lowerCase
    ? openPatientTokenizer(request, await loadTokenizer(request.dir, LOWER_CASE), LOWER_CASE)
    : tokenizer;
  const sentenceLimit = longestSentence({ modules, tokenizer, config, limits });
  const { messages } = readersIn(request);
  const reader = { dir: request.dir, tokenizer: sentenceTokenizer, messages, modules, limit: sentenceLimit };
  const readMessage = await loadMessageReader(reader);
  const causal = String((config['architectures'] as string[] | undefined)?.[0]).endsWith('ForCausalLM');
  const sentencePooling: Pooling[] = modules.pooling ?? [
    causal && config['is_causal'] !== false ? 'lasttoken' : 'mean',
  ];
  // Static embeddings know no special tokens and no longest text.
  const bag = encoder.readsBags ? { specialTokens: false, maxLength: limits.positions } : undefined;
  const promptTokens = (prompt: string) => countPrompt(sentenceTokenizer, prompt, sentenceLimit);

  /** Whether the repository says what a vector of a text is: then embed gives what encode gives. */
  const sentences = modules.listed && (modules.pooling !== undefined || poolsItself(encoder.outputs));

  /** The row of a text behind its prompt. */
  const rowOf = async (text: string, prompt: string, options: EncodeOptions): Promise<Encoding> => {
    const { specialTokens, truncation, signal } = options;
    const whole = bag ?? { maxLength: lowerLimit(sentenceLimit, options.maxLength), specialTokens };
    const row = readMessage
      ? await readMessage(text, prompt, { truncation, signal })
      : await sentenceTokenizer.encode(prompt + text, { ...whole, truncation }, signal);
    options.onTokens?.(row.ids.length);
    return row;
  };

  const encode: TextEmbedder['encode'] = async (text, options = {}) => {
    const prompt = promptBefore(modules, options);
    const outputs = await encoder.forward(await rowOf(text, prompt, options), options.signal);
    const from = modules.includePrompt || !prompt || readMessage ? 0 : await promptTokens(prompt);
    // A graph that pools itself leaves out no prompt.
    const pooled = from === 0 ? sentenceVector(outputs) : undefined;
    const vector = pooled ?? applySteps(applyPoolings(hiddenStates(outputs, from), sentencePooling), modules);
    const truncateDim = options.truncateDim ?? modules.truncateDim;
    const renormalize = options.renormalize && modules.normalizes;
    return finished(vector, { ...options, truncateDim, renormalize });
  };

  const embed: TextEmbedder['embed'] = async (text, options = {}) => {
    const { pooling, maxLength, specialTokens, truncation, promptName, signal, onTokens } = options;
    if (sentences && !pooling) return encode(text, options);
    const whole = bag ?? { maxLength: lowerLimit(limits.text, maxLength), specialTokens };
    // Hidden states as they are have no usual prompt.
    const prompt =
      promptName === undefined ? '' : namedPrompt(modules.prompts, promptName, 'params.prompt_name');
    const row = await tokenizer.encode(prompt + text, { ...whole, truncation }, signal);
    onTokens?.(row.ids.length);
    const outputs = await encoder.forward(row, signal);
    const pooled = pooling ? undefined : onlyVector(outputs);
    const vector = pooled ?? applyPoolings(hiddenStates(outputs, 0), [pooling ?? 'mean']);
    return finished(vector, { ...options, renormalize: false });
  };

  const states: TextEmbedder['states'] = async (text, options = {}) => {
    const row = await rowOf(text, promptBefore(modules, options), options);
    return hiddenStates(await encoder.forward(row, options.signal), 0);
  };

  return { embed, encode, states };
}

/** Modules that end in vectors of tokens, as those of late interaction do, give no vector of a sentence. */
function checkPooling({ listed, pooling }: SentenceModules, outputs: readonly Port[]): void {
  if (!listed || pooling || poolsItself(outputs)) return;
  throw new RunError('not_ready', 'modules.json names no Pooling, so there is no vector of a sentence');
}

interface Limited {
  modules: SentenceModules;
  tokenizer: TokenizerFacts;
  config: Json;
  limits: InputLimits;
}

/** max_seq_length, else what both the tokenizer and the position table take, as sentence-transformers caps it. */
function longestSentence({ modules, tokenizer, config, limits }: Limited): number | undefined {
  const table = firstNumber(config, 'max_position_embeddings');
  return lowerLimit(limits.positions, modules.maxSeqLength ?? lowerLimit(tokenizer.modelMaxLength, table));
}

function applySteps(pooled: Float32Array, modules: SentenceModules): Float32Array {
  return modules.steps.reduce((vector, step) => step(vector), pooled);
}

function finished(
  vector: Float32Array,
  { truncateDim, normalize, renormalize }: Pick<EncodeOptions, 'truncateDim' | 'normalize' | 'renormalize'>,
): Float32Array {
  const kept = truncateDim === undefined ? vector : vector.slice(0, truncateDim);
  return normalize || (renormalize && kept.length < vector.length) ? normalizeVector(kept) : kept;
}

/** Tokens that a prompt takes at the start of a text: its encoding less a special token at the end. */
async function countPrompt(
  tokenizer: PatientTokenizer,
  prompt: string,
  maxLength: number | undefined,
): Promise<number> {
  const { ids } = await tokenizer.encode(prompt, { maxLength });
  return tokenizer.specialIds.has(ids.at(-1)!) ? ids.length - 1 : ids.length;
}
