/** As transformers' exporter calls keys and values: `cache.layers.3.keys`, with `input.` or `output.` where both sides have it. */
const CACHE = /^(?:(input|output)\.)?cache\.layers\.(\d+)\.(keys|values)$/;

/**
 * The name that decoders are run by here, for a port of transformers' exporter: `past_key_values.3.key`, `present.3.key`. All
 * other names stay.
 * @param side of the graph that it is on
 */
export function cacheName(name: string, side: 'input' | 'output'): string {
  const [, , layer, kind] = CACHE.exec(name) ?? [];
  if (layer === undefined) return name;
  return `${side === 'input' ? 'past_key_values' : 'present'}.${layer}.${kind === 'keys' ? 'key' : 'value'}`;
}
