import type { FoundAdapter } from './adapter/index.js';
import type { Network, OwnRequest } from './own-network.js';

/** What graphs are written over, and what happens to it: for the plan's reader. */
export function weightsText(
  networks: readonly Network[],
  types: ReadonlySet<string>,
  { bits, adapter }: Pick<OwnRequest, 'bits' | 'adapter'>,
): string {
  const files = networks.map(({ file }) => file.path).join(', ');
  const merges = adapter ? mergeText(adapter, networks) : '';
  return `${files} (${[...types].join(', ')}), ${matricesText(networks, bits)}${merges}`;
}

function matricesText(networks: readonly Network[], bits: OwnRequest['bits']): string {
  const methods = new Set(networks.flatMap(({ packed }) => packed ?? []));
  if (methods.size > 0) {
    const others = bits ? `, the others packed to ${bits} bits` : '';
    return `the 4-bit matrices of ${[...methods].join(', ')} as they are${others}`;
  }
  return bits ? `matrices packed to ${bits} bits` : 'computed in float32';
}

function mergeText({ base }: FoundAdapter, networks: readonly Network[]): string {
  const merged = networks.flatMap((network) => network.merged ?? []);
  const matrices = merged.reduce((sum, one) => sum + one.merged, 0);
  const others = merged.reduce((sum, one) => sum + one.changed.size, 0) - matrices;
  const replaced = others > 0 ? `, ${others} tensors of its own` : '';
  return `; the adapter (LoRA) is merged into ${matrices} matrices of ${base.id}${replaced}`;
}
