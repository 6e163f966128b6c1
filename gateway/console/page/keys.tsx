import { useEffect, useState } from 'preact/hooks';
import type { KeyList } from '../state.js';
import { ask } from './api.js';
import { KeyRow } from './key-row.js';
import { limitsText } from './limits.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

/** Usage grows while the page is open. */
const EVERY_MS = 5000;

/** The keys of callers: what they have used; create and revoke. */
export function Keys() {
  const [list, setList] = useState<KeyList>();
  const [made, setMade] = useState<{ name: string; key: string }>();
  const act = useAction();
  const load = async () => setList(await ask<KeyList>('GET', 'api/keys'));
  useEffect(() => {
    void act.run(load);
    // What fails now is tried again; that the connection is lost is told elsewhere.
    const timer = window.setInterval(() => void load().catch(() => {}), EVERY_MS);
    return () => window.clearInterval(timer);
  }, []);
  const create = (name: string) =>
    act.run(async () => {
      setMade(await ask<{ name: string; key: string }>('POST', 'api/keys', { name }));
      await load();
    });
  const revoke = (id: string) =>
    act.run(async () => {
      await ask('DELETE', `api/keys/${encodeURIComponent(id)}`);
      await load();
    });
  const limit = (id: string, limits: object | null) =>
    act.run(async () => {
      await ask('POST', `api/keys/${encodeURIComponent(id)}/limits`, { limits });
      await load();
    });
  return (
    <section aria-labelledby="keys" class="panel">
      <div class="head">
        <h2 id="keys">Keys</h2>
        {list && <p class="note">each key: {limitsText(list.limits)}</p>}
      </div>
      <Problem text={act.problem} />
      {made && <Secret name={made.name} secret={made.key} onDone={() => setMade(undefined)} />}
      {list && (
        <ul class="list">
          {list.keys.map((key) => (
            <KeyRow
              key={key.id}
              row={key}
              common={list.limits}
              isBusy={act.isBusy}
              change={list.isFile ? { revoke, limit } : undefined}
            />
          ))}
        </ul>
      )}
      {list?.isFile && <KeyForm isBusy={act.isBusy} onCreate={create} />}
      {list?.isFile === false && (
        <p class="note">
          This gateway has no file of keys; start it with --keys to create, limit and revoke them.
        </p>
      )}
    </section>
  );
}

function Secret({ name, secret, onDone }: { name: string; secret: string; onDone(): void }) {
  return (
    <div class="made" role="status">
      <p>
        The key of <strong>{name}</strong>. It is shown only once:
      </p>
      <code class="secret">{secret}</code>
      <div class="row">
        <button type="button" onClick={() => void navigator.clipboard?.writeText(secret)}>
          Copy
        </button>
        <button type="button" onClick={onDone}>
          Done
        </button>
      </div>
    </div>
  );
}

function KeyForm({ isBusy, onCreate }: { isBusy: boolean; onCreate(name: string): Promise<void> }) {
  const [name, setName] = useState('');
  return (
    <form
      class="row new-key"
      onSubmit={(event) => {
        event.preventDefault();
        void onCreate(name).then(() => setName(''));
      }}
    >
      <input
        aria-label="name of the new key’s owner"
        placeholder="Name of its owner"
        required
        maxLength={200}
        value={name}
        onInput={({ currentTarget }) => setName(currentTarget.value)}
      />
      <button type="submit" class="main" disabled={isBusy || name.trim() === ''}>
        Create a key
      </button>
    </form>
  );
}
