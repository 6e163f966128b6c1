import type { GraphWriter, Value } from '../graph-writer.js';

/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

/** What a decoder reads beside its weights. */
export interface DecoderInputs {
  /** int64 [rows, tokens] */
  ids: Value;
  /** int64 [rows, tokens]: places in the text. */
  positions: Value;
  /** int64 [1]: tokens that are fed, without those of the cache. */
  tokens: Value;
  /**
   * Added to scores, float32 [rows, 1, 1, tokens, all tokens]: what a token may not see. Made once for each window.
   * @param window how many tokens back it sees, itself included; all of them if absent
   */
  mask(window?: number): Value;
  /** Keys and values of former tokens, float32 [rows, heads, past, width]; undefined where there is no cache. */
  past(layer: number): readonly [key: Value, value: Value] | undefined;
  /** Notes keys and values of the fed tokens, in the same layout. */
  present(layer: number, key: Value, value: Value): void;
}

export interface CacheSize {
  heads: number;
  width: number;
}

/**
 * Declares what the runtime's decoders feed: `input_ids`, `attention_mask` [rows, past + tokens], `position_ids`, caches.
 * The places of a row's tokens follow from its mask: wherever they lie in the cache, they lie in their order.
 * @param cache undefined for a model that reads whole texts only, whose mask is [rows, tokens]
 */
export function decoderInputs(g: GraphWriter, cache: CacheSize | undefined): DecoderInputs {
  const ids = g.input('input_ids', 'int64', ['rows', 'tokens']);
  const seen = g.input('attention_mask', 'int64', ['rows', cache ? 'all_tokens' : 'tokens']);
  const tokens = g.node('Shape', [ids], { start: 1, end: 2 });
  const places = g.node('Sub', [g.node('CumSum', [seen, g.ints([1], [])]), g.ints([1], [])]);
  const start = g.node('Sub', [g.ints([0]), tokens]);
  const own = g.node('Slice', [places, start, g.ints([2 ** 53]), g.ints([1])]);
  return {
    ids,
    tokens,
    positions: cache ? g.input('position_ids', 'int64', ['rows', 'tokens']) : own,
    mask: (window) => g.once(`mask ${window}`, () => causalMask(g, { seen, places, own, window })),
    past(layer) {
      if (!cache) return undefined;
      const shape = ['rows', cache.heads, 'past', cache.width];
      const name = (kind: string) => `past_key_values.${layer}.${kind}`;
      return [g.input(name('key'), 'float32', shape), g.input(name('value'), 'float32', shape)];
    },
    present(layer, key, value) {
      if (!cache) return;
      const shape = ['rows', cache.heads, 'tokens', cache.width];
      g.output(`present.${layer}.key`, key, 'float32', shape);
      g.output(`present.${layer}.value`, value, 'float32', shape);
    },
  };
}

interface Places {
  /** int64 [rows, all tokens]: 0 for padding, and places in the text. */
  seen: Value;
  places: Value;
  /** int64 [rows, tokens]: those of the fed ones. */
  own: Value;
  window: number | undefined;
}

function causalMask(g: GraphWriter, { seen, places, own, window }: Places): Value {
  const keys = g.node('Unsqueeze', [places, g.ints([1, 2, 3])]);
  const queries = g.node('Unsqueeze', [own, g.ints([1, 2, 4])]);
  const isText = g.node('Unsqueeze', [g.node('Greater', [seen, g.ints([0], [])]), g.ints([1, 2, 3])]);
  const distance = g.node('Sub', [queries, keys]);
  const before = g.node('GreaterOrEqual', [distance, g.ints([0], [])]);
  const near =
    window === undefined ? before : g.node('And', [before, g.node('Less', [distance, g.ints([window], [])])]);
  const visible = g.node('And', [near, isText]);
  return g.node('Where', [visible, g.scalar(0), g.scalar(LEAST)]);
}
