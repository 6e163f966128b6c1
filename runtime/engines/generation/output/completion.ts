import type { Delta } from '../../../core/delta.js';
import type { GeneratedText, TokenLogprob } from '../../../core/handles/index.js';
import type { FinishReason } from '../../../core/usage.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { RowGrammar } from '../grammar/row-grammar.js';
import type { LogitsProcessor } from '../search/logits-processor.js';
import { chosenLogprob } from '../search/chosen-logprob.js';
import { readLogprobs } from '../search/logprobs.js';
import { createSampler } from '../search/sampling.js';
import type { GenerationSettings } from '../settings/settings.js';
import type { AnswerText, AnswerWriter } from './answer-writer.js';

/** One answer while it is made. */
export interface Completion {
  /** Chooses the next token by the scores, which it may change. Returns the pieces that have become certain. */
  addToken(scores: Float32Array): (string | Delta)[];
  /** The rest of the answer, once no more tokens come. */
  finish(): (string | Delta)[];
  /** True after EOS, a stop string or the last token that there is room for. */
  readonly ended: boolean;
  /** The newest token. */
  readonly lastToken: number;
  readonly result: Omit<GeneratedText, 'tokensIn'>;
}

export interface CompletionInput {
  prompt: readonly number[];
  settings: GenerationSettings;
  tokenizer: TextTokenizer;
  processors: readonly LogitsProcessor[];
  /** Index among the answers of a request: each draws other random numbers. */
  index: number;
  writer: AnswerWriter;
  grammar?: RowGrammar | undefined;
  tellsMeanLogprob?: boolean | undefined;
}

export function createCompletion({
  prompt,
  settings,
  tokenizer,
  processors,
  index,
  writer,
  grammar,
  tellsMeanLogprob = false,
}: CompletionInput): Completion {
  const { eosTokenIds, stopTokenIds, maxNewTokens, logprobs, streamTokens } = settings;
  const sample = createSampler(settings, index);
  const ids = [...prompt];
  const told: { content: TokenLogprob[]; end?: TokenLogprob } = { content: [] };
  let sumLogprob = 0;
  let ended = false;
  let finish: FinishReason = 'length';
  return {
    addToken(scores) {
      const logprobOf = logprobs === undefined ? undefined : readLogprobs(tokenizer, scores, logprobs);
      for (const process of processors) process(scores, ids, 0);
      const id = grammar ? grammar.choose(scores, sample) : sample(scores);
      ids.push(id);
      if (tellsMeanLogprob) sumLogprob += chosenLogprob(scores, id, settings);
      const last = eosTokenIds.has(id);
      const token = logprobOf?.(id);
      if (token && last) told.end = token;
      else if (token) told.content.push(token);
      const pieces: (string | Delta)[] = token && streamTokens ? [{ token }] : [];
      if (!stopTokenIds.has(id)) pieces.push(...writer.push(id));
      if (writer.stopped || last || grammar?.complete) finish = 'stop';
      ended = finish === 'stop' || ids.length >= prompt.length + maxNewTokens;
      return pieces;
    },
    finish: () => writer.finish(finish === 'length'),
    get ended() {
      return ended;
    },
    get lastToken() {
      return ids.at(-1)!;
    },
    get result() {
      const { parts } = writer;
      return {
        ...parts,
        tokensOut: ids.length - prompt.length,
        tokens: ids.slice(prompt.length),
        finish: finishOf(finish, parts),
        ...(tellsMeanLogprob ? { meanLogprob: sumLogprob / (ids.length - prompt.length) } : {}),
        ...(logprobs === undefined ? {} : { logprobs: told }),
      };
    },
  };
}

/** Calls are why an answer ended, unless it was cut off. */
export function finishOf(finish: FinishReason, { toolCalls }: AnswerText): FinishReason {
  return finish === 'stop' && toolCalls ? 'tool_calls' : finish;
}
