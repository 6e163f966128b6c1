/** Sizes of a network from config.json, where model families use different names. */
export interface NetworkSizes {
  /** Vocabulary entries. */
  vocabulary: number;
  /** Width of the hidden states. */
  hidden: number;
  /** Width of the feed-forward layers. */
  intermediate: number;
  layers: number;
  heads: number;
  /** Longest input in tokens. */
  positions: number;
  /** Width of a layer's keys over all heads; the same for values. */
  keys: number;
  /** Tokens of an image: one per patch, and one more. */
  patches: number;
}

const NAMES: Record<Exclude<keyof NetworkSizes, 'keys' | 'patches'>, readonly string[]> = {
  vocabulary: ['vocab_size'],
  hidden: ['hidden_size', 'd_model', 'n_embd', 'dim'],
  intermediate: ['intermediate_size', 'encoder_ffn_dim', 'd_ff', 'ffn_dim', 'n_inner', 'hidden_dim'],
  layers: ['num_hidden_layers', 'encoder_layers', 'n_layer', 'n_layers', 'num_layers'],
  heads: ['num_attention_heads', 'encoder_attention_heads', 'n_head', 'n_heads', 'num_heads'],
  positions: ['max_position_embeddings', 'n_positions', 'n_ctx'],
};

/** Reads the sizes; 0 for unknown ones. */
export function sizesOf(config: Readonly<Record<string, unknown>>): NetworkSizes {
  const nested = config['text_config'];
  const inner = typeof nested === 'object' && nested !== null ? (nested as Record<string, unknown>) : {};
  const find = (names: readonly string[]) =>
    names.map((name) => Number(config[name] ?? inner[name])).find((value) => value > 0) ?? 0;
  const [hidden, heads] = [find(NAMES.hidden), find(NAMES.heads)];
  const headWidth = find(['head_dim', 'd_kv']) || (heads && hidden / heads);
  return {
    vocabulary: find(NAMES.vocabulary),
    hidden,
    intermediate: find(NAMES.intermediate),
    layers: find(NAMES.layers),
    heads,
    positions: find(NAMES.positions),
    keys: (find(['num_key_value_heads']) || heads) * headWidth,
    patches: patchesOf(find(['image_size']), find(['patch_size'])),
  };
}

function patchesOf(edge: number, patch: number): number {
  return edge > 0 && patch > 0 ? Math.floor(edge / patch) ** 2 + 1 : 0;
}
