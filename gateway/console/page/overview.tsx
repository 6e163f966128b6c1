import type { ComponentChildren } from 'preact';
import type { ConsoleState } from '../state.js';
import { seriesOf } from './charts.js';
import { bytes, count, duration, plural } from './format.js';
import { type Series, Spark } from './spark.js';

/** Totals since the gateway started, each over the last half hour. */
export function Overview({ state: { totals, memory, history } }: { state: ConsoleState }) {
  const { latency } = totals;
  const series = seriesOf(history);
  return (
    <section aria-label="Overview" class="cards">
      <Card title="Requests" chart={series.requests}>
        <Figure value={count(totals.requests)} id="requests" />
        <small>{count(totals.errors)} with an error</small>
      </Card>
      <Card title="Under way" chart={series.underWay}>
        <Figure value={count(totals.underWay)} id="under-way" />
        <small>
          {count(totals.waiting)} waiting, {plural(totals.servers, 'server')}
        </small>
      </Card>
      <Card title="Latency" chart={series.latency}>
        <Figure value={duration(latency.p95)} id="p95" />
        <small>p95; median {duration(latency.p50)}</small>
      </Card>
      <Card title="Cold starts" chart={series.coldStarts}>
        <Figure value={count(totals.coldStarts)} id="cold-starts" />
        <small>calls that waited for a start</small>
      </Card>
      <Card title="Memory" chart={series.memory}>
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
