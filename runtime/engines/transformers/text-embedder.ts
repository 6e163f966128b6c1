import type { Tensor } from 'onnxruntime-node';
import { RunError } from '../../core/errors.js';
import type { EncodeOptions, TextEmbedder } from '../../core/handles.js';
import type { LoadRequest } from '../handle.js';
import { readJson } from '../model-folder.js';
import { toFloat32 } from '../session.js';
import { loadTokenizer } from '../text/tokenizer.js';
import { poolAll, type HiddenStates, unit } from './pooling.js';
import { readSentenceModules, type SentenceModules } from './sentence-modules.js';
import { longestInput, openTextEncoder, type Outputs, tighter } from './text-encoder.js';

/** Encoders that give hidden states [1, tokens, width], or already pool inside the graph. */
export async function loadTextEmbedder(request: LoadRequest): Promise<TextEmbedder> {
  const [config, tokenizer, encoder, modules] = await Promise.all([
    readJson(request.dir, 'config.json'),
    loadTokenizer(request.dir),
    openTextEncoder(request),
    readSentenceModules(request.dir),
  ]);
  const limit = longestInput(tokenizer, config);
  const sentenceLimit = tighter(limit, modules.maxSeqLength);
  const run = async (text: string, maxLength: number | undefined) =>
    encoder.forward(tokenizer.encode(text, { maxLength }));
  const promptTokens = (prompt: string) =>
    countPrompt(tokenizer.encode(prompt).ids, tokenizer.encode('').ids);

  return {
    async embed(text, { pooling, normalize, maxLength } = {}) {
      const outputs = await run(text, tighter(limit, maxLength));
      const vector = poolAll(hiddenStates(outputs, 0), pooling ? [pooling] : modules.pooling);
      return normalize ? unit(vector) : vector;
    },
    async encode(text, options = {}) {
      const prompt = promptOf(modules, options);
      const outputs = await run(prepared(prompt + text, modules), sentenceLimit);
      const pooled = outputs['sentence_embedding'];
      // Graphs exported by sentence-transformers end in the pooled vector: every module is inside.
      const from = modules.includePrompt || !prompt ? 0 : promptTokens(prompt);
      const vector = pooled ? toFloat32(pooled) : applySteps(hiddenStates(outputs, from), modules);
      return finished(vector, options);
    },
  };
}

/** SentenceTransformer strips white space at the ends before it tokenises. */
function prepared(text: string, modules: SentenceModules): string {
  const stripped = text.trim();
  return modules.lowerCase ? stripped.toLowerCase() : stripped;
}

function applySteps(states: HiddenStates, modules: SentenceModules): Float32Array {
  return modules.steps.reduce((vector, step) => step(vector), poolAll(states, modules.pooling));
}

function finished(vector: Float32Array, { truncateDim, normalize }: EncodeOptions): Float32Array {
  const kept = truncateDim === undefined ? vector : vector.slice(0, truncateDim);
  return normalize ? unit(kept) : kept;
}

function promptOf(modules: SentenceModules, { prompt, promptName }: EncodeOptions): string {
  if (prompt !== undefined) return prompt;
  const name = promptName ?? modules.defaultPrompt;
  if (name === undefined) return '';
  const found = modules.prompts[name];
  if (found !== undefined && Object.hasOwn(modules.prompts, name)) return found;
  const known = Object.keys(modules.prompts).join(', ') || 'none';
  throw new RunError(
    'unprocessable',
    `params.prompt_name: this model has no prompt "${name}" (it has: ${known})`,
  );
}

/** Tokens that a prompt takes at the start of a text: its encoding less the special tokens after it. */
function countPrompt(withSpecials: number[], empty: number[]): number {
  const tail = empty.length > 1 ? 1 : 0;
  return withSpecials.length - tail;
}

function hiddenStates(outputs: Outputs, from: number): HiddenStates {
  const tensor = outputs['last_hidden_state'] ?? outputs['token_embeddings'] ?? firstOfRank3(outputs);
  const [, tokens, width] = tensor.dims as [number, number, number];
  return { values: toFloat32(tensor), tokens, width, from };
}

function firstOfRank3(outputs: Outputs): Tensor {
  const found = Object.values(outputs).find((tensor) => tensor.dims.length === 3);
  if (found) return found;
  throw new RunError('engine_failed', `the graph gives ${Object.keys(outputs).join(', ')}, no hidden states`);
}
