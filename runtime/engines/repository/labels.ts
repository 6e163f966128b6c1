import type { Classification } from '../../core/handles/index.js';
import { IMAGENET_LABELS } from './imagenet-labels.js';
import type { Json } from './model-folder.js';

/** `id2label`, or the names of timm, as an array, filled up with LABEL_n as Python's configuration does. */
export function labelsOf(config: Json, count: number): string[] {
  const table = (config['id2label'] ?? timmLabels(config) ?? {}) as Record<string, unknown>;
  return Array.from({ length: count }, (_, i) => String(table[String(i)] ?? `LABEL_${i}`));
}

/** timm's repositories name their labels in a list, or mean ImageNet's. */
function timmLabels(config: Json): readonly unknown[] | undefined {
  if (config['pretrained_cfg'] === undefined) return undefined;
  const names = config['label_names'];
  if (Array.isArray(names)) return names;
  return config['num_classes'] === IMAGENET_LABELS.length ? IMAGENET_LABELS : undefined;
}

/** What the head was trained for: `problem_type` where it is set, else one answer among several. */
export function problemOf(config: Json): Classification['problem'] {
  if (config['problem_type'] === 'regression') return 'regression';
  return config['problem_type'] === 'multi_label_classification' ? 'multi_label' : 'single_label';
}
