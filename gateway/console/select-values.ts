import type { GatewayMetrics } from '../records/metrics.js';

export type Metrics = Awaited<ReturnType<GatewayMetrics['values']>>;

type Value = Metrics[number]['values'][number];

/** Selects values by their labels. */
export type Labels = Readonly<Record<string, string>>;

/** Finds values by their labels. The first label is looked up, since a thousand models have many thousand values. */
export function selectBy(all: (name: string) => readonly Value[]) {
  const indices = new Map<string, Map<string, Value[]>>();
  const indexOf = (name: string, label: string) => {
    const key = `${name} ${label}`;
    const index = indices.get(key) ?? group(all(name), label);
    indices.set(key, index);
    return index;
  };
  return (name: string, labels: Labels): readonly Value[] => {
    const [first, ...rest] = Object.entries(labels);
    if (first === undefined) return all(name);
    const found = indexOf(name, first[0]).get(first[1]) ?? [];
    return found.filter((value) => rest.every(([label, wanted]) => String(value.labels[label]) === wanted));
  };
}

function group(values: readonly Value[], label: string): Map<string, Value[]> {
  const groups = new Map<string, Value[]>();
  for (const value of values) {
    const key = String(value.labels[label]);
    const known = groups.get(key);
    if (known) known.push(value);
    else groups.set(key, [value]);
  }
  return groups;
}
