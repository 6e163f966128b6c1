import type { GeneratedText, TokenLogprob } from '../../../core/handles/index.js';
import type { FinishReason } from '../../../core/usage.js';
import type { TextTokenizer } from '../../tokenizers/tokenizer.js';
import type { LogitsProcessor } from '../search/logits.js';
import { readLogprobs } from '../search/logprobs.js';
import { createSampler } from '../search/sampling.js';
import type { GenerationSettings } from '../settings/settings.js';
import type { TextStream } from './text-stream.js';

/** One answer while it is made. */
export interface Row {
  /** Chooses the next token from the scores, which it may change. Gives the text that has become certain. */
  take(scores: Float32Array): string;
  /** The rest of the text, once no more tokens come. */
  finish(): string;
  /** True after EOS, a stop string or the last token that there is room for. */
  readonly ended: boolean;
  /** The newest token. */
  readonly last: number;
  readonly answer: Omit<GeneratedText, 'tokensIn'>;
}

export interface RowInput {
  prompt: readonly number[];
  settings: GenerationSettings;
  tokenizer: TextTokenizer;
  processors: readonly LogitsProcessor[];
  /** Rows of one request draw different numbers. */
  number: number;
  stream: TextStream;
  /** What has come out of the stream. */
  text: string;
}

export function createRow({ prompt, settings, tokenizer, processors, number, stream, text }: RowInput): Row {
  const { eosTokenIds, maxNewTokens, logprobs } = settings;
  const sample = createSampler(settings, number);
  const ids = [...prompt];
  const told: TokenLogprob[] = [];
  let answer = text;
  let ended = false;
  let finish: FinishReason = 'length';
  const out = (piece: string) => {
    answer += piece;
    return piece;
  };
  return {
    take(scores) {
      const tell = logprobs === undefined ? undefined : readLogprobs(tokenizer, scores, logprobs);
      for (const process of processors) process(scores, ids, 0);
      const id = sample(scores);
      ids.push(id);
      const last = eosTokenIds.has(id);
      if (tell && !last) told.push(tell(id));
      const piece = stream.push(id);
      if (stream.stopped || last) finish = 'stop';
      ended = finish === 'stop' || ids.length >= prompt.length + maxNewTokens;
      return out(piece);
    },
    finish: () => out(stream.finish()),
    get ended() {
      return ended;
    },
    get last() {
      return ids.at(-1)!;
    },
    get answer() {
      return {
        text: answer,
        tokensOut: ids.length - prompt.length,
        finish,
        ...(logprobs === undefined ? {} : { logprobs: { content: told } }),
      };
    },
  };
}
