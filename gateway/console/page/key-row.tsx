import { useState } from 'preact/hooks';
import type { KeyLimits, KeyState } from '../state.js';
import { duration, plural, time } from './format.js';
import { LimitFields, limitsOf, limitsText, NO_LIMITS, textsOf } from './limit-fields.js';

export interface KeyActions {
  isBusy: boolean;
  revoke(id: string): Promise<void>;
  /** @returns whether they were set */
  setLimits(id: string, limits: KeyState['own']): Promise<boolean>;
}

interface Props {
  row: KeyState;
  /** Limits of keys that have none of their own. */
  all: KeyLimits;
  /** Absent where keys can't be changed. */
  actions: KeyActions | undefined;
}

/** One key: what it has used, its limits, and what can be done to it. */
export function KeyRow({ row, all, actions }: Props) {
  const [opened, setOpened] = useState<'limits' | 'revoke'>();
  const { id, name, created, calls, seconds, limits, own } = row;
  const isOwn = own.rate !== undefined || own.concurrent !== undefined;
  const close = () => setOpened(undefined);
  return (
    <li class="key">
      <div class="name">
        <strong>{name || 'no name'}</strong> <code>{id}</code>
      </div>
      <div>
        <div>
          {plural(calls, 'call')}, {duration(seconds)} of models
        </div>
        <div class="note">
          {limitsText(limits)} {isOwn && <span class="badge">own limits</span>}
        </div>
        <div class="note">created {time(created)}</div>
      </div>
      {actions && opened !== 'revoke' && (
        <div class="row actions">
          <button
            type="button"
            aria-label={`Limits of ${name || id}`}
            aria-expanded={opened === 'limits'}
            onClick={() => setOpened(opened === 'limits' ? undefined : 'limits')}
          >
            Limits
          </button>
          <button type="button" aria-label={`Revoke ${name || id}`} onClick={() => setOpened('revoke')}>
            Revoke
          </button>
        </div>
      )}
      {actions && opened === 'revoke' && (
        <div class="row actions">
          <button
            type="button"
            class="danger"
            disabled={actions.isBusy}
            onClick={() => void actions.revoke(id)}
          >
            Revoke for good
          </button>
          <button type="button" onClick={close}>
            Keep
          </button>
        </div>
      )}
      {actions && opened === 'limits' && <LimitForm row={row} all={all} actions={actions} onDone={close} />}
    </li>
  );
}

function LimitForm({ row, all, actions, onDone }: Props & { actions: KeyActions; onDone(): void }) {
  const [texts, setTexts] = useState(textsOf(row.own));
  const set = async (changed: typeof texts) => {
    if (await actions.setLimits(row.id, limitsOf(changed))) onDone();
  };
  return (
    <form
      class="limits"
      aria-label={`Limits of ${row.name || row.id}`}
      onSubmit={(event) => {
        event.preventDefault();
        void set(texts);
      }}
    >
      <LimitFields texts={texts} all={all} onChange={setTexts} />
      <button type="submit" class="main" disabled={actions.isBusy}>
        Set
      </button>
      <button type="button" disabled={actions.isBusy} onClick={() => void set(NO_LIMITS)}>
        As for all keys
      </button>
    </form>
  );
}
