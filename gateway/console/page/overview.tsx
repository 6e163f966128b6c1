import type { ComponentChildren } from 'preact';
import type { ConsoleState, Sample } from '../state.js';
import { bytes, count, duration, plural } from './format.js';
import { type Series, Spark } from './spark.js';

/** Growth of a counter from each sample to the next, for a minute. */
function perMinute(history: readonly Sample[], read: (sample: Sample) => number): number[] {
  return history.slice(1).map((sample, i) => {
    const before = history[i]!;
    const minutes = (sample.at - before.at) / 60_000;
    return minutes > 0 ? (read(sample) - read(before)) / minutes : 0;
  });
}

const rate = (value: number) => `${count(Number(value.toFixed(value < 10 ? 1 : 0)))}/min`;

/** Totals since the gateway started, each over the last half hour. */
export function Overview({ state: { totals, memory, history } }: { state: ConsoleState }) {
  const { latency } = totals;
  return (
    <section aria-label="Overview" class="cards">
      <Card
        title="Requests"
        chart={{ label: 'requests', values: perMinute(history, (s) => s.requests), format: rate }}
      >
        <Figure value={count(totals.requests)} id="requests" />
        <small>{count(totals.errors)} with an error</small>
      </Card>
      <Card
        title="Under way"
        chart={{ label: 'calls under way', values: history.map((s) => s.underWay), format: count }}
      >
        <Figure value={count(totals.underWay)} id="under-way" />
        <small>
          {count(totals.waiting)} waiting, {plural(totals.servers, 'server')}
        </small>
      </Card>
      <Card
        title="Latency"
        chart={{ label: '95 % of calls within', values: history.map((s) => s.p95), format: duration }}
      >
        <Figure value={duration(latency.p95)} id="p95" />
        <small>p95; median {duration(latency.p50)}</small>
      </Card>
      <Card
        title="Cold starts"
        chart={{ label: 'cold starts', values: perMinute(history, (s) => s.coldStarts), format: rate }}
      >
        <Figure value={count(totals.coldStarts)} id="cold-starts" />
        <small>calls that waited for a start</small>
      </Card>
      <Card
        title="Memory"
        chart={{ label: 'memory of models', values: history.map((s) => s.memory), format: bytes }}
      >
        <Figure value={bytes(memory.models)} id="memory" />
        {memory.budget === null ? (
          <small>this gateway runs no servers</small>
        ) : (
          <small>
            of {bytes(memory.budget)} for models
            <meter min={0} max={memory.budget} value={memory.models} aria-label="share of the budget" />
          </small>
        )}
      </Card>
    </section>
  );
}

function Figure({ value, id }: { value: string; id: string }) {
  return (
    <p class="big" id={id}>
      {value}
    </p>
  );
}

function Card({ title, chart, children }: { title: string; chart: Series; children: ComponentChildren }) {
  return (
    <div class="card">
      <h2>{title}</h2>
      {children}
      <Spark {...chart} />
    </div>
  );
}
