import type { FoundAdapter } from './adapter/index.js';
import type { Network, OwnRequest } from './own-network.js';

interface WeightsText extends Pick<OwnRequest, 'bits' | 'adapter'> {
  /** Part of the numbers that is packed here. */
  share?: number | undefined;
}

/** What graphs are written over, and what happens to it: for the plan's reader. */
export function weightsText(
  networks: readonly Network[],
  types: ReadonlySet<string>,
  { bits, adapter, share }: WeightsText,
): string {
  const files = networks.map(({ file }) => file.path).join(', ');
  const merges = adapter ? mergeText(adapter, networks) : '';
  return `${files} (${[...types].join(', ')}), ${matricesText(networks, { bits, share })}${merges}`;
}

function matricesText(networks: readonly Network[], { bits, share }: WeightsText): string {
  const ready = networks.flatMap(({ packed }) => packed ?? []);
  const part = share === undefined ? '' : ` (${Math.floor(100 * share)} % of the weights)`;
  if (ready.length > 0) {
    const others = bits ? `, others packed to ${bits} bits${part}` : '';
    const methods = new Set(ready.map((one) => one.method));
    const names = [...methods].join(', ');
    if (methods.has('GGUF')) return `its blocks as integers with their scales${others}`;
    return methods.has('mxfp4')
      ? `the matrices of ${names} as sums of two ${ready[0]!.bits}-bit integers${others}`
      : `the ${ready[0]!.bits}-bit matrices of ${names} as they are${others}`;
  }
  return bits ? `matrices packed to ${bits} bits${part}` : 'computed in float32';
}

function mergeText({ base }: FoundAdapter, networks: readonly Network[]): string {
  const merged = networks.flatMap((network) => network.merged ?? []);
  const matrices = merged.reduce((sum, one) => sum + one.merged, 0);
  const others = merged.reduce((sum, one) => sum + one.changed.size, 0) - matrices;
  const replaced = others > 0 ? `, ${others} tensors of its own` : '';
  return `; the adapter (LoRA) is merged into ${matrices} matrices of ${base.id}${replaced}`;
}
