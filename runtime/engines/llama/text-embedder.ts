import type { EmbedOptions, EncodeOptions, Pooling, TextEmbedder } from '../../core/handles/index.js';
import type { LoadRequest } from '../../core/load-request.js';
import { normalizeVector } from '../encoders/text/embedder/pooling.js';
import { RunError } from '../../core/errors.js';
import { type PromptSettings, promptBefore, readPromptsBeside } from '../repository/sentence-prompts.js';
import { createPromptEncoder } from '../tokenizers/patient-tokenizer.js';
import { openModel } from './open-model.js';
import { createPooledRows, type PooledRows } from './pooled-rows.js';
import { rememberModel } from './opened-models.js';

/** Poolings that llama.cpp has, by their names in requests. */
const POOLINGS: Partial<Record<Pooling, 'mean' | 'cls' | 'last'>> = {
  mean: 'mean',
  cls: 'cls',
  lasttoken: 'last',
};

/** Vectors of texts by a model in GGUF: pooled as the file says, scaled to length 1 as sentence-transformers' modules of such models do. */
export async function loadLlamaTextEmbedder(request: LoadRequest): Promise<TextEmbedder> {
  const [opened, prompts] = await Promise.all([openModel(request), readPromptsBeside(request.dir)]);
  const { tokenizer } = opened;
  const contexts = new Map<string, Promise<PooledRows>>();
  const rowsOf = (pooling: 'model' | 'mean' | 'cls' | 'last' | 'none'): Promise<PooledRows> => {
    const found = contexts.get(pooling) ?? createPooledRows(opened, pooling, request.threads);
    contexts.set(pooling, found);
    return found;
  };
  const usual = await rowsOf(opened.pooling === 'none' ? 'mean' : 'model');
  rememberModel(request.dir, opened, {
    ...{ template: undefined, maxLength: usual.longest, prompts: prompts?.prompts },
  });

  const tokensOf = createPromptEncoder(tokenizer, tokenizer.encodeAside);
  const rowOf = async (text: string, options: EncodeOptions): Promise<number[]> => {
    const { maxLength, truncation, specialTokens, signal, onTokens } = options;
    const longest = Math.min(usual.longest, maxLength ?? usual.longest);
    const ids = await tokensOf(text, { maxLength: longest, truncation, specialTokens }, signal);
    onTokens?.(ids.length);
    return ids;
  };

  async function embed(text: string, options: EmbedOptions = {}): Promise<Float32Array> {
    const { pooling } = options;
    const wanted = pooling && POOLINGS[pooling];
    if (pooling && !wanted)
      throw new RunError(
        'unprocessable',
        `params.pooling: llama.cpp pools ${Object.keys(POOLINGS).join(', ')}, not ${pooling}`,
      );
    // Pooled in another way than the file's, a text has no usual prompt.
    const settings = prompts && (wanted ? { ...prompts, defaultPrompt: undefined } : prompts);
    const ids = await rowOf(textBehindPrompt(text, settings, options), options);
    const rows = wanted ? await rowsOf(wanted) : usual;
    return finished(await rows.vector(ids, options.signal), options, pooling === undefined);
  }

  return {
    embed,
    async encode(text, options = {}) {
      const ids = await rowOf(textBehindPrompt(text, prompts, options), options);
      return finished(await usual.vector(ids, options.signal), options, true);
    },
    async states(text, options = {}) {
      const rows = await rowsOf('none');
      return rows.states(await rowOf(textBehindPrompt(text, prompts, options), options), options.signal);
    },
  };
}

type PromptOptions = Pick<EncodeOptions, 'prompt' | 'promptName'>;

/** @throws RunError 422 for a name where nothing says what the prompts are */
function textBehindPrompt(
  text: string,
  settings: PromptSettings | undefined,
  options: PromptOptions,
): string {
  if (settings) return promptBefore(settings, options) + text;
  if (options.prompt === undefined && options.promptName !== undefined)
    throw new RunError(
      'unprocessable',
      'params.prompt_name: this model has no named prompts, since no config_sentence_transformers.json stands beside its file; put the prompt before the text',
    );
  return (options.prompt ?? '') + text;
}

function finished(
  vector: Float32Array,
  { truncateDim, normalize, renormalize }: Pick<EncodeOptions, 'truncateDim' | 'normalize' | 'renormalize'>,
  usual: boolean,
): Float32Array {
  const kept = truncateDim === undefined ? vector : vector.slice(0, truncateDim);
  const wanted = normalize ?? (kept.length < vector.length ? (renormalize ?? false) : usual);
  return wanted ? normalizeVector(kept) : kept;
}
