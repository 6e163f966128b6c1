import { setImmediate } from 'node:timers/promises';
import { RunError } from '../../../core/errors.js';
import type { FilledMask, FillOptions, MaskFiller } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import type { TensorLike } from '../../sessions/tensors.js';
import type { PatientTokenizer, TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';
import { promptBefore } from '../../repository/sentence-prompts.js';
import { lowerLimit } from './encoder/input-limits.js';
import { openTextModel } from './encoder/text-encoder.js';
import { readSplade, sparseVector } from './splade.js';
import { vectorAt } from './vector-at.js';
import { topScores } from './token-scores.js';
import { probabilities } from '../probabilities.js';

/** *ForMaskedLM: logits [1, tokens, vocabulary]. */
export async function loadMaskFiller(request: LoadRequest): Promise<MaskFiller> {
  const [{ tokenizer, encoder, limits }, splade] = await Promise.all([
    openTextModel(request, 'logits'),
    readSplade(request.dir),
  ]);
  const mask = tokenizer.namedId('mask_token');
  if (mask === undefined) throw new RunError('not_ready', 'the tokenizer has no mask token');
  const maskToken = tokenizer.tokenOf(mask)!;
  return {
    maskToken,
    ...(splade && {
      async sparse(text, { maxLength, promptName, ...options }, signal) {
        const limit = lowerLimit(limits.text, splade.maxLength);
        const prompt = promptBefore(splade, { promptName });
        const whole = { ...options, maxLength: lowerLimit(limit, maxLength) };
        const row = await tokenizer.encode(prompt + text, whole, signal);
        return sparseVector((await encoder.forward(row, signal))['logits']!, splade, signal);
      },
    }),
    async fill(text, options, signal) {
      const { targets, specialTokens, truncation } = options;
      const candidates = targets && (await idsOf(tokenizer, targets, signal));
      const maxLength = lowerLimit(limits.text, options.maxLength);
      const row = await tokenizer.encode(text, { specialTokens, truncation, maxLength }, signal);
      const masks = row.ids.flatMap((id, at) => (id === mask ? [at] : []));
      if (masks.length === 0) {
        throw new RunError(
          'invalid_input',
          `text: holds no ${maskToken} within the longest input of the model`,
        );
      }
      const logits = (await encoder.forward(row, signal))['logits']!;
      return rowsOf({ tokenizer, logits, ids: row.ids, masks, candidates, options, signal });
    },
  };
}

/** A token that is in the vocabulary, else the first one of the text. */
async function idsOf(
  tokenizer: PatientTokenizer,
  targets: readonly string[],
  signal: AbortSignal,
): Promise<number[]> {
  const ids = new Set<number>();
  for (const target of targets) {
    const known = tokenizer.idOf(target);
    const first = { specialTokens: false, maxLength: 1 };
    const found = known === undefined ? (await tokenizer.encode(target, first, signal)).ids : [known];
    for (const id of found) ids.add(id);
  }
  if (ids.size === 0) throw new RunError('invalid_input', 'params.targets: hold no token of the vocabulary');
  return [...ids];
}

interface Filling {
  tokenizer: TokenizerFacts;
  logits: TensorLike;
  ids: readonly number[];
  masks: readonly number[];
  candidates: readonly number[] | undefined;
  options: FillOptions;
  signal: AbortSignal;
}

/** UTF-16 units of all sequences in one answer. */
const LONGEST_ANSWER = 2 ** 26;

/** Decodes for a few milliseconds at a time: there may be as many rows as the vocabulary has tokens. */
async function rowsOf({ tokenizer, masks, signal, ...filling }: Filling): Promise<FilledMask[][]> {
  const pad = tokenizer.namedId('pad_token');
  const answer: FilledMask[][] = [];
  let [units, pause] = [0, Date.now() + 10];
  for (const at of masks) {
    const rows: FilledMask[] = [];
    for (const { id, score } of best(filling, at)) {
      const filled = filling.ids.with(at, id).filter((token) => token !== pad);
      const sequence = tokenizer.decode(filled, { skipSpecialTokens: masks.length === 1 });
      const token_str = tokenizer.decode([id], { skipSpecialTokens: false });
      rows.push({ score, token: id, token_str, sequence });
      units += sequence.length;
      if (units > LONGEST_ANSWER)
        throw new RunError('unprocessable', 'params.top_k: the answer grows too long');
      if (Date.now() < pause) continue;
      await setImmediate();
      signal.throwIfAborted();
      pause = Date.now() + 10;
    }
    answer.push(rows);
  }
  return answer;
}

/** The best tokens for the mask at one position. */
function best({ logits, candidates, options }: Omit<Filling, 'tokenizer' | 'masks' | 'signal'>, at: number) {
  const size = logits.dims[2]!;
  const count = candidates ? Math.min(options.topK, candidates.length) : options.topK;
  if (count > size) {
    throw new RunError('unprocessable', `params.top_k: the vocabulary has ${size} tokens`);
  }
  const scores = probabilities(vectorAt(logits, at));
  const beyond = candidates?.find((id) => id >= size);
  if (beyond !== undefined) {
    throw new RunError('unprocessable', `params.targets: the model gives no score for token ${beyond}`);
  }
  return topScores(scores, count, candidates);
}
