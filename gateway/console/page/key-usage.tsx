import { useEffect, useState } from 'preact/hooks';
import type { KeyState, ModelUsage } from '../state.js';
import { ask } from './api.js';
import { count, dollars, duration } from './format.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

/** What a key has used of each model; read again when its calls have changed. */
export function KeyUsage({ row: { id, name, calls } }: { row: KeyState }) {
  const [rows, setRows] = useState<ModelUsage[]>();
  const read = useAction();
  useEffect(() => {
    void read.run(async () =>
      setRows(await ask<ModelUsage[]>('GET', `api/keys/${encodeURIComponent(id)}/usage`)),
    );
  }, [id, calls]);
  return (
    <div class="usage" role="region" aria-label={`Usage of ${name || id} by model`} tabIndex={0}>
      <Problem text={read.problem} />
      {rows?.length === 0 && <p class="note">No calls since the gateway started.</p>}
      {rows !== undefined && rows.length > 0 && (
        <table aria-label={`Usage of ${name || id}`}>
          <thead>
            <tr>
              {['model', 'calls', 'time', 'cost', 'tokens read', 'written'].map((title) => (
                <th key={title} scope="col">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.model}>
                <th scope="row">{row.model}</th>
                <td>{count(row.calls)}</td>
                <td>{duration(row.seconds)}</td>
                <td>{dollars(row.cost)}</td>
                <td>{count(row.tokensIn)}</td>
                <td>{count(row.tokensOut)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}
