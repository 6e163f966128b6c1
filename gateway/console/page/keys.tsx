import { useEffect, useState } from 'preact/hooks';
import type { KeyList, KeyState } from '../state.js';
import { ask } from './api.js';
import { count, duration, plural, time } from './format.js';
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
  return (
    <section aria-labelledby="keys" class="panel">
      <div class="head">
        <h2 id="keys">Keys</h2>
        {list && <p class="note">{limitsText(list.limits)}</p>}
      </div>
      <Problem text={act.problem} />
      {made && <Secret name={made.name} secret={made.key} onDone={() => setMade(undefined)} />}
      {list && (
        <ul class="list">
          {list.keys.map((key) => (
            <KeyRow key={key.id} row={key} isBusy={act.isBusy} onRevoke={list.isFile ? revoke : undefined} />
          ))}
        </ul>
      )}
      {list?.isFile && <KeyForm isBusy={act.isBusy} onCreate={create} />}
      {list?.isFile === false && (
        <p class="note">This gateway has no file of keys; start it with --keys to create and revoke them.</p>
      )}
    </section>
  );
}

function limitsText({ calls, seconds, concurrent }: KeyList['limits']): string {
  const rate = `each key: ${count(calls)} calls in ${duration(seconds)}`;
  return concurrent === null ? rate : `${rate}, ${count(concurrent)} at once`;
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

function KeyRow({
  row,
  isBusy,
  onRevoke,
}: {
  row: KeyState;
  isBusy: boolean;
  onRevoke: ((id: string) => void) | undefined;
}) {
  const [isAsking, setAsking] = useState(false);
  const { id, name, created, calls, seconds } = row;
  return (
    <li class="key">
      <div class="name">
        <strong>{name || 'no name'}</strong> <code>{id}</code>
      </div>
      <span class="note">
        {plural(calls, 'call')}, {duration(seconds)} of models; created {time(created)}
      </span>
      {onRevoke && (
        <div class="row actions">
          {isAsking ? (
            <>
              <button type="button" class="danger" disabled={isBusy} onClick={() => onRevoke(id)}>
                Revoke for good
              </button>
              <button type="button" onClick={() => setAsking(false)}>
                Keep
              </button>
            </>
          ) : (
            <button type="button" aria-label={`Revoke ${name || id}`} onClick={() => setAsking(true)}>
              Revoke
            </button>
          )}
        </div>
      )}
    </li>
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
