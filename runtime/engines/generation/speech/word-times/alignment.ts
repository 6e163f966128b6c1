import * as z from 'zod';
import { RunError } from '../../../../core/errors.js';
import type { AudioFeatures } from '../../../processors/audio/audio-features.js';
import type { SourceModel } from '../../generate-from-source.js';
import type { TokensBySteps } from './time-warp.js';
import { tokenSteps } from './token-steps.js';

/** Heads of the decoder that look at what they write down. */
export interface Alignment {
  /** For each head of each layer 1 where it is one of them. */
  heads: Uint8Array;
  /** How many there are. */
  count: number;
  /** Of the median that smooths what they look at. */
  width: number;
}

/** WhisperConfig's. */
const DEFAULT_WIDTH = 7;

const size = z.int().min(1);
const settings = z.object({ decoder_layers: size, decoder_attention_heads: size });
const pairs = z.array(z.tuple([z.int().min(0), z.int().min(0)])).min(1);
const oddWidth = z
  .int()
  .min(1)
  .max(99)
  .refine((width) => width % 2 === 1);

/** @throws RunError 422 for a model that can't tell times of words */
export function alignmentOf(
  model: Pick<SourceModel<unknown>, 'config' | 'repository' | 'decoder'>,
): Alignment {
  const { config, repository, decoder } = model;
  if (repository['alignment_heads'] == null)
    throw untold('the repository names no alignment_heads in generation_config.json');
  if (!decoder.tellsAttention)
    throw untold(
      'this graph does not tell what its heads look at; build the model again, from its PyTorch weights (--weights own)',
    );
  const found = pairs.safeParse(repository['alignment_heads']);
  const sizes = settings.safeParse(config);
  const width = oddWidth.safeParse(config['median_filter_width'] ?? DEFAULT_WIDTH);
  if (!width.success) throw untold('median_filter_width in config.json is no odd number');
  const { decoder_layers: layers = 0, decoder_attention_heads: heads = 0 } = sizes.data ?? {};
  if (!found.success || found.data.some(([layer, head]) => layer >= layers || head >= heads))
    throw untold(
      'alignment_heads in generation_config.json are not pairs of a layer and a head that there are',
    );
  const chosen = new Uint8Array(layers * heads);
  for (const [layer, head] of found.data) chosen[layer * heads + head] = 1;
  return { heads: chosen, count: chosen.reduce((sum, one) => sum + one, 0), width: width.data };
}

const untold = (reason: string): RunError =>
  new RunError(
    'unprocessable',
    `params.return_timestamps: times of words are not known: ${reason}; or ask for those of segments`,
  );

export interface Said {
  source: AudioFeatures;
  /** What stands before the text. */
  begin: readonly number[];
  /** The text's tokens, the one that ended it included. */
  tokens: readonly number[];
  /** States of the audio in this window; less than 0 counts from the end. */
  states: number;
}

/** Copies of what heads look at while a run makes them and they are read. */
const COPIES = 4;
const FLOAT = 4;

/**
 * The state of the audio at which each token is said. The text is fed once more, so that who asks for no times pays nothing. The
 * last token is never fed in Python, and has the time of the one before.
 */
export async function statesOfTokens(
  model: SourceModel<AudioFeatures>,
  alignment: Alignment,
  said: Said,
  signal: AbortSignal,
): Promise<number[]> {
  const { begin, tokens } = said;
  const count = tokens.length - 1;
  if (count < 1) return tokens.map(() => 0);
  const fed = [...begin, ...tokens.slice(0, count)];
  const length = said.source.mask.length / 2;
  const request = {
    ...{ maxRows: 1, maxLength: fed.length, waits: true, signal },
    attentionBytes: alignment.count * fed.length * length * FLOAT * COPIES,
  };
  const decoding = await model.decoder.start(said.source, request);
  try {
    const reader = createReader(alignment.count, {
      skipped: begin.length,
      tokens: count,
      states: said.states,
    });
    await decoding.prefill({ tokens: fed, attention: { heads: alignment.heads, tell: reader.read } });
    const first = await tokenSteps(reader.heads(), alignment.width, signal);
    return [...first, first.at(-1)!];
  } finally {
    decoding.end();
  }
}

/** Keeps the shares of the text's tokens, without those of states that are not wanted. */
function createReader(
  count: number,
  { skipped, tokens, states }: { skipped: number; tokens: number; states: number },
) {
  let heads: TokensBySteps[] = [];
  let from = -skipped;
  return {
    heads: () => heads,
    read(shares: Float32Array, fed: number): void {
      const length = shares.length / (count * fed);
      const steps = states < 0 ? Math.max(0, length + states) : Math.min(length, states);
      if (heads.length === 0)
        heads = Array.from({ length: count }, () => ({
          values: new Float32Array(tokens * steps),
          tokens,
          steps,
        }));
      for (const [head, { values }] of heads.entries()) {
        for (let i = Math.max(0, -from); i < fed; i++) {
          const start = (head * fed + i) * length;
          values.set(shares.subarray(start, start + steps), (from + i) * steps);
        }
      }
      from += fed;
    },
  };
}
