import { useEffect, useState } from 'preact/hooks';
import type { KeyLimits, KeyList, KeyState } from '../state.js';
import { ask } from './api.js';
import { type KeyActions, KeyRow } from './key-row.js';
import { LimitFields, limitsOf, limitsText, NO_LIMITS } from './limit-fields.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

/** Usage grows while the page is open. */
const EVERY_MS = 5000;

/** The keys of callers: what they have used, and their limits; create, set limits, revoke. */
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
  /** @returns whether it was done */
  const change = async (work: () => Promise<unknown>) => {
    let isDone = false;
    await act.run(async () => {
      await work();
      isDone = true;
      await load();
    });
    return isDone;
  };
  const create = (name: string, limits: KeyState['own']) =>
    change(async () =>
      setMade(await ask<{ name: string; key: string }>('POST', 'api/keys', { name, limits })),
    );
  const pathOf = (id: string) => `api/keys/${encodeURIComponent(id)}`;
  const actions: KeyActions = {
    isBusy: act.isBusy,
    revoke: async (id) => void (await change(() => ask('DELETE', pathOf(id)))),
    setLimits: (id, limits) => change(() => ask('PUT', `${pathOf(id)}/limits`, limits)),
  };
  return (
    <section aria-labelledby="keys" class="panel">
      <div class="head">
        <h2 id="keys">Keys</h2>
        {list && (
          <p class="note">each key at most {limitsText(list.limits)}, unless it has limits of its own</p>
        )}
      </div>
      <Problem text={act.problem} />
      {made && <Secret name={made.name} secret={made.key} onDone={() => setMade(undefined)} />}
      {list && (
        <ul class="list">
          {list.keys.map((key) => (
            <KeyRow key={key.id} row={key} all={list.limits} actions={list.isFile ? actions : undefined} />
          ))}
        </ul>
      )}
      {list?.isFile && <KeyForm all={list.limits} isBusy={act.isBusy} onCreate={create} />}
      {list?.isFile === false && (
        <p class="note">This gateway has no file of keys; start it with --keys to create and revoke them.</p>
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

interface FormProps {
  all: KeyLimits;
  isBusy: boolean;
  onCreate(name: string, limits: KeyState['own']): Promise<boolean>;
}

function KeyForm({ all, isBusy, onCreate }: FormProps) {
  const [name, setName] = useState('');
  const [texts, setTexts] = useState(NO_LIMITS);
  const create = async () => {
    if (!(await onCreate(name, limitsOf(texts)))) return;
    setName('');
    setTexts(NO_LIMITS);
  };
  return (
    <form
      class="limits new-key"
      aria-label="New key"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
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
      <LimitFields texts={texts} all={all} onChange={setTexts} />
      <button type="submit" class="main" disabled={isBusy || name.trim() === ''}>
        Create a key
      </button>
    </form>
  );
}
