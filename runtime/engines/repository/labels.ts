import type { Classification } from '../../core/handles/index.js';
import type { Json } from './model-folder.js';

/** `id2label` as an array, filled up with LABEL_n as Python's configuration does. */
export function labelsOf(config: Json, count: number): string[] {
  const table = (config['id2label'] ?? {}) as Record<string, unknown>;
  return Array.from({ length: count }, (_, i) => String(table[String(i)] ?? `LABEL_${i}`));
}

/** What the head was trained for: `problem_type` where it is set, else one answer among several. */
export function problemOf(config: Json): Classification['problem'] {
  if (config['problem_type'] === 'regression') return 'regression';
  return config['problem_type'] === 'multi_label_classification' ? 'multi_label' : 'single_label';
}
