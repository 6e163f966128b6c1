import type { GraphWriter, Value } from '../writer/graph-writer.js';

/** Least float32, with which Python masks. */
const LEAST = -3.4028234663852886e38;

/** What a decoder reads beside its weights. */
export interface DecoderInputs {
  /** int64 [rows, tokens]; undefined for a model that reads vectors. */
  ids: Value | undefined;
  /** float32 [rows, tokens, width], for a model that reads them in place of tokens. */
  vectors: Value | undefined;
  /** int64 [rows, tokens]: positions in the text; [axes, rows, tokens] where they are counted on several axes. */
  positions: Value;
  /** int64 [rows, all tokens]: positions of fed tokens and of those of the cache; padding has any. */
  allPositions: Value;
  /** int64 [1]: tokens that are fed, without those of the cache. */
  tokens: Value;
  /**
   * Added to scores, float32 [rows, 1, 1, tokens, all tokens]: what a token may not see. Made once for each window.
   * @param window how many tokens back it sees, itself included; all of them if absent
   * @param chunk a text is parted into parts of so many, and no token sees another part
   */
  mask(window?: number, chunk?: number): Value;
  /** int64 [rows, tokens, all tokens]: how far a key lies behind a fed token, less than 0 before it. */
  distances(): Value;
  /** Keys and values of former tokens, float32 [rows, heads, past, width]; undefined where there is no cache. */
  past(layer: number, size?: HeadSize): readonly [key: Value, value: Value] | undefined;
  /** Notes keys and values of the fed tokens, in the same layout. */
  present(layer: number, key: Value, value: Value, size?: HeadSize): void;
  /**
   * What a layer keeps of all former tokens, float32 [rows, …dims]; zeros before the first one, and where there is no cache.
   * @param kind of the state, a word
   */
  state(kind: string, layer: number, dims: readonly number[]): Value;
  /** Notes what it keeps of them and the fed tokens. */
  nextState(kind: string, layer: number, value: Value, dims: readonly number[]): void;
}

/** Heads of keys and values, and their width, of a layer that has others than the model. */
export interface HeadSize {
  heads: number;
  width: number;
}

export interface CacheSize {
  heads: number;
  width: number;
  /** Stands in names of caches where a model has others, too. */
  part?: '.decoder';
}

export interface PositionOptions {
  /** Axes on which positions are counted; 1 if absent. */
  axes?: number;
  /**
   * Fed tokens of one group see each other, whichever comes first (`token_groups`): on all layers, or on those with a window
   * alone, as far back as it reaches.
   */
  groups?: 'everywhere' | 'in windows' | undefined;
}

export interface InputOptions extends PositionOptions {
  /** Width of the vectors that are fed in place of tokens. */
  vectors?: number;
}

/** int64 [rows, tokens]: the group of a fed token, all of which are fed in one run; 0 for a token of none. */
export const GROUPS_INPUT = 'token_groups';

const NO_HEADS: HeadSize = { heads: 0, width: 0 };

/**
 * Declares what the runtime's decoders feed: `input_ids` or `inputs_embeds`, `attention_mask` [rows, past + tokens],
 * `position_ids`, caches. The positions of a row's tokens follow from its mask: wherever they lie in the cache, they lie in
 * their order.
 * @param cache undefined for a model that reads whole texts only, whose mask is [rows, tokens]
 */
export function decoderInputs(
  g: GraphWriter,
  cache: CacheSize | undefined,
  { vectors: width, axes = 1, groups }: InputOptions = {},
): DecoderInputs {
  const ids = width === undefined ? g.input('input_ids', 'int64', ['rows', 'tokens']) : undefined;
  const vectors =
    width === undefined ? undefined : g.input('inputs_embeds', 'float32', ['rows', 'tokens', width]);
  const seen = g.input('attention_mask', 'int64', ['rows', cache ? 'all_tokens' : 'tokens']);
  const tokens = g.node('Shape', [ids ?? vectors!], { start: 1, end: 2 });
  const positions = g.node('Sub', [g.node('CumSum', [seen, g.ints([1], [])]), g.ints([1], [])]);
  const start = g.node('Sub', [g.ints([0]), tokens]);
  const own = g.node('Slice', [positions, start, g.ints([2 ** 53]), g.ints([1])]);
  const placed = () =>
    g.input('position_ids', 'int64', axes === 1 ? ['rows', 'tokens'] : [axes, 'rows', 'tokens']);
  const together = groups && sameGroup(g, g.input(GROUPS_INPUT, 'int64', ['rows', 'tokens']), seen);
  return {
    ids,
    vectors,
    allPositions: positions,
    tokens,
    positions: cache ? placed() : own,
    mask: (window, chunk) =>
      g.once(`mask ${window}${chunk === undefined ? '' : ` ${chunk}`}`, () =>
        causalMask(g, { seen, positions, own, window, chunk, groups, together }),
      ),
    distances: () =>
      g.once('distances of the decoder', () =>
        g.node('Sub', [
          ...[g.node('Unsqueeze', [positions, g.ints([1])]), g.node('Unsqueeze', [own, g.ints([2])])],
        ]),
      ),
    past(layer, { heads, width } = cache ?? NO_HEADS) {
      if (!cache) return undefined;
      const shape = ['rows', heads, 'past', width];
      const name = (kind: string) => `past_key_values.${layer}${cache.part ?? ''}.${kind}`;
      return [g.input(name('key'), 'float32', shape), g.input(name('value'), 'float32', shape)];
    },
    present(layer, key, value, { heads, width } = cache ?? NO_HEADS) {
      if (!cache) return;
      const shape = ['rows', heads, 'tokens', width];
      const name = `present.${layer}${cache.part ?? ''}`;
      g.output(`${name}.key`, key, 'float32', shape);
      g.output(`${name}.value`, value, 'float32', shape);
    },
    state(kind, layer, dims) {
      if (cache) return g.input(`past_${kind}.${layer}`, 'float32', ['rows', ...dims]);
      const rows = g.node('Shape', [ids ?? vectors!], { start: 0, end: 1 });
      return g.node('Expand', [g.scalar(0), g.node('Concat', [rows, g.ints(dims)], { axis: 0 })]);
    },
    nextState(kind, layer, value, dims) {
      if (cache) g.output(`present_${kind}.${layer}`, value, 'float32', ['rows', ...dims]);
    },
  };
}

interface Positions {
  /** int64 [rows, all tokens]: 0 for padding, and positions in the text. */
  seen: Value;
  positions: Value;
  /** int64 [rows, tokens]: those of the fed ones. */
  own: Value;
  window: number | undefined;
  chunk: number | undefined;
  /** bool [rows, 1, 1, tokens, all tokens]: what a token sees besides, and on which layers. */
  together: Value | undefined;
  groups: PositionOptions['groups'];
}

function causalMask(
  g: GraphWriter,
  { seen, positions, own, window, chunk, groups, together }: Positions,
): Value {
  const keys = g.node('Unsqueeze', [positions, g.ints([1, 2, 3])]);
  const queries = g.node('Unsqueeze', [own, g.ints([1, 2, 4])]);
  const isText = g.node('Unsqueeze', [g.node('Greater', [seen, g.ints([0], [])]), g.ints([1, 2, 3])]);
  const distance = g.node('Sub', [queries, keys]);
  const earlier = g.node('GreaterOrEqual', [distance, g.ints([0], [])]);
  const isCut = groups === 'in windows' && window !== undefined;
  const before = isCut ? g.node('Or', [earlier, together!]) : earlier;
  const near =
    window === undefined ? before : g.node('And', [before, g.node('Less', [distance, g.ints([window], [])])]);
  const part = (x: Value) => g.node('Div', [x, g.ints([chunk!], [])]);
  const beside =
    chunk === undefined ? near : g.node('And', [near, g.node('Equal', [part(queries), part(keys)])]);
  const shown = groups === 'everywhere' ? g.node('Or', [beside, together!]) : beside;
  const visible = g.node('And', [shown, isText]);
  return g.node('Where', [visible, g.scalar(0), g.scalar(LEAST)]);
}

/** bool [rows, 1, 1, tokens, all tokens]: fed tokens of one group. @param groups int64 [rows, tokens] */
function sameGroup(g: GraphWriter, groups: Value, seen: Value): Value {
  const [all, fed] = [seen, groups].map((x) => g.node('Shape', [x], { start: 1, end: 2 }));
  const past = g.node('Sub', [all!, fed!]);
  const keys = g.node('Pad', [groups, g.node('Concat', [g.ints([0]), past, g.ints([0, 0])], { axis: 0 })]);
  const queries = g.node('Unsqueeze', [groups, g.ints([1, 2, 4])]);
  const same = g.node('Equal', [queries, g.node('Unsqueeze', [keys, g.ints([1, 2, 3])])]);
  return g.node('And', [same, g.node('Greater', [queries, g.ints([0], [])])]);
}
