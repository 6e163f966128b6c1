import type { ErrorRow } from '../state.js';
import { count, time } from './format.js';

/** The last errors, those of one kind together. */
export function ErrorTable({ errors }: { errors: readonly ErrorRow[] }) {
  return (
    <section aria-labelledby="errors" class="panel">
      <div class="head">
        <h2 id="errors">Last errors</h2>
      </div>
      {errors.length === 0 && <p class="note">None since the gateway started.</p>}
      <ul class="list">
        {errors.map((row) => (
          <ErrorItem key={JSON.stringify([row.code, row.status, row.model, row.key, row.reason])} row={row} />
        ))}
      </ul>
    </section>
  );
}

function ErrorItem({ row: { at, times, code, status, model, key, requestId, reason } }: { row: ErrorRow }) {
  const facts = [
    ...(times > 1 ? [`${count(times)} times, last`] : []),
    time(at),
    ...(key === null ? [] : [`key ${key}`]),
    ...(requestId === null ? [] : [`request ${requestId}`]),
  ];
  return (
    <li class="fault">
      <div class="name">
        <strong>
          {code}
          {status !== null && ` (${status})`}
        </strong>
        <span>{model ?? 'no model'}</span>
      </div>
      <span class="note">{facts.join(' · ')}</span>
      {reason !== null && <p class="reason">{reason}</p>}
    </li>
  );
}
