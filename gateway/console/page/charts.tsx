import { useEffect, useState } from 'preact/hooks';
import type { Sample } from '../state.js';
import { ask } from './api.js';
import { bytes, count, duration } from './format.js';
import { Problem } from './problem.js';
import { type Series, Spark } from './spark.js';
import { useAction } from './use-action.js';

/** Growth of a counter from each sample to the next, for a minute. */
function perMinute(history: readonly Sample[], read: (sample: Sample) => number): number[] {
  return history.slice(1).map((sample, i) => {
    const before = history[i]!;
    const minutes = (sample.at - before.at) / 60_000;
    return minutes > 0 ? (read(sample) - read(before)) / minutes : 0;
  });
}

const rate = (value: number) => `${count(Number(value.toFixed(value < 10 ? 1 : 0)))}/min`;

/** What the charts of a history show, of one model as of all. */
export const seriesOf = (history: readonly Sample[]) =>
  ({
    requests: { label: 'requests', values: perMinute(history, (s) => s.requests), format: rate },
    underWay: { label: 'calls under way', values: history.map((s) => s.underWay), format: count },
    latency: { label: '95 % of calls within', values: history.map((s) => s.p95), format: duration },
    coldStarts: { label: 'cold starts', values: perMinute(history, (s) => s.coldStarts), format: rate },
    memory: { label: 'memory', values: history.map((s) => s.memory), format: bytes },
  }) satisfies Record<string, Series>;

/** Those with two values at least. */
const drawable = (history: readonly Sample[]): Series[] =>
  Object.values(seriesOf(history)).filter(
    ({ values }) => values.filter((value) => value !== null).length > 1,
  );

/** As often as a sample is taken. */
const EVERY_MS = 15_000;

/** The last half hour of one model. @param path of the model in the interface */
export function ModelCharts({ id, path }: { id: string; path: string }) {
  const [history, setHistory] = useState<Sample[]>();
  const read = useAction();
  useEffect(() => {
    const load = () => void read.run(async () => setHistory(await ask<Sample[]>('GET', `${path}/history`)));
    load();
    const timer = window.setInterval(load, EVERY_MS);
    return () => window.clearInterval(timer);
  }, [path]);
  return (
    <div class="charts" role="group" aria-label={`Charts of ${id}`}>
      <Problem text={read.problem} />
      {history !== undefined && history.length < 2 && (
        <p class="note">Nothing to draw yet: a sample is taken every 15 seconds from the first call on.</p>
      )}
      {history !== undefined &&
        history.length > 1 &&
        drawable(history).map((series) => (
          <div key={series.label}>
            <span class="note">{series.label}</span>
            <Spark {...series} />
          </div>
        ))}
    </div>
  );
}
