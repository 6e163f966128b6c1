interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** What a page of metrics says in Prometheus' text format, read as Prometheus does. */
export interface MetricsPage {
  /** Over the series with these labels. @param name without the gateway's prefix */
  sum(name: string, labels?: Record<string, string>): number;
  /** Prometheus' `histogram_quantile`; null without an observation. */
  quantile(share: number, name: string, labels?: Record<string, string>): number | null;
}

export function readMetrics(text: string): MetricsPage {
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(sampleOf);
  const of = (name: string, labels: Record<string, string>) =>
    samples.filter(
      (sample) =>
        sample.name === `slipway_gateway_${name}` &&
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
    );
  return {
    sum: (name, labels = {}) => of(name, labels).reduce((sum, { value }) => sum + value, 0),
    quantile(share, name, labels = {}) {
      const byBound = new Map<number, number>();
      for (const { labels: own, value } of of(`${name}_bucket`, labels)) {
        const bound = own['le'] === '+Inf' ? Infinity : Number(own['le']);
        byBound.set(bound, (byBound.get(bound) ?? 0) + value);
      }
      const buckets = [...byBound].sort(([a], [b]) => a - b);
      const rank = share * (buckets.at(-1)?.[1] ?? 0);
      if (rank === 0) return null;
      const at = buckets.findIndex(([, calls]) => calls >= rank);
      const [lower, below] = buckets[at - 1] ?? [0, 0];
      const [upper, calls] = buckets[at]!;
      return upper === Infinity ? lower : lower + (upper - lower) * ((rank - below) / (calls - below));
    },
  };
}

function sampleOf(line: string): Sample {
  const [, name, labels = '', value] = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line)!;
  const pairs = [...labels.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)].map(([, label, text]) => [
    label!,
    text!.replace(/\\(.)/g, (_, character: string) => (character === 'n' ? '\n' : character)),
  ]);
  return { name: name!, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
}
