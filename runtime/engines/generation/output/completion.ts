import type { GeneratedText, TokenLogprob } from '../../../core/handles/index.js';
import type { FinishReason } from '../../../core/usage.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { LogitsProcessor } from '../search/logits-processor.js';
import { chosenLogprob } from '../search/chosen-logprob.js';
import { readLogprobs } from '../search/logprobs.js';
import { createSampler } from '../search/sampling.js';
import type { GenerationSettings } from '../settings/settings.js';
import type { TextStream } from './text-stream.js';

/** One answer while it is made. */
export interface Completion {
  /** Chooses the next token by the scores, which it may change. Returns the text that has become certain. */
  addToken(scores: Float32Array): string;
  /** The rest of the text, once no more tokens come. */
  finish(): string;
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
  stream: TextStream;
  tellsMeanLogprob?: boolean | undefined;
  /** The text that the stream has given so far. */
  text: string;
}

export function createCompletion({
  prompt,
  settings,
  tokenizer,
  processors,
  index,
  stream,
  text,
  tellsMeanLogprob = false,
}: CompletionInput): Completion {
  const { eosTokenIds, maxNewTokens, logprobs } = settings;
  const sample = createSampler(settings, index);
  const ids = [...prompt];
  const tokenLogprobs: TokenLogprob[] = [];
  let sumLogprob = 0;
  let answerText = text;
  let ended = false;
  let finish: FinishReason = 'length';
  const emit = (piece: string) => {
    answerText += piece;
    return piece;
  };
  return {
    addToken(scores) {
      const logprobOf = logprobs === undefined ? undefined : readLogprobs(tokenizer, scores, logprobs);
      for (const process of processors) process(scores, ids, 0);
      const id = sample(scores);
      ids.push(id);
      if (tellsMeanLogprob) sumLogprob += chosenLogprob(scores, id, settings);
      const last = eosTokenIds.has(id);
      if (logprobOf && !last) tokenLogprobs.push(logprobOf(id));
      const piece = stream.push(id);
      if (stream.stopped || last) finish = 'stop';
      ended = finish === 'stop' || ids.length >= prompt.length + maxNewTokens;
      return emit(piece);
    },
    finish: () => emit(stream.finish()),
    get ended() {
      return ended;
    },
    get lastToken() {
      return ids.at(-1)!;
    },
    get result() {
      return {
        text: answerText,
        tokensOut: ids.length - prompt.length,
        tokens: ids.slice(prompt.length),
        finish,
        ...(tellsMeanLogprob ? { meanLogprob: sumLogprob / (ids.length - prompt.length) } : {}),
        ...(logprobs === undefined ? {} : { logprobs: { content: tokenLogprobs } }),
      };
    },
  };
}
