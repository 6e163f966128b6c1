import { useState } from 'preact/hooks';
import type { KeyState, Limits } from '../state.js';
import { duration, plural, time } from './format.js';
import { LimitForm, limitsText } from './limits.js';

export interface KeyChanges {
  revoke(id: string): Promise<void>;
  /** @param limits null for those of all keys */
  limit(id: string, limits: object | null): Promise<void>;
}

interface KeyRowProps {
  row: KeyState;
  /** Limits of keys without their own. */
  common: Limits;
  isBusy: boolean;
  /** Undefined where keys can't be changed. */
  change: KeyChanges | undefined;
}

/** A key of a caller: what it has used, and what can be done to it. */
export function KeyRow({ row, common, isBusy, change }: KeyRowProps) {
  const [asked, setAsked] = useState<'limits' | 'revoke'>();
  const { id, name, created, calls, seconds, limits } = row;
  const end = () => setAsked(undefined);
  return (
    <li class="key">
      <div class="name">
        <strong>{name || 'no name'}</strong> <code>{id}</code>
      </div>
      <span class="note">
        {plural(calls, 'call')}, {duration(seconds)} of models; created {time(created)}
        {limits && <span class="own-limits"> · limits of its own: {limitsText(limits)}</span>}
      </span>
      {change && asked === undefined && (
        <div class="row actions">
          <button type="button" aria-label={`Limits of ${name || id}`} onClick={() => setAsked('limits')}>
            Limits
          </button>
          <button type="button" aria-label={`Revoke ${name || id}`} onClick={() => setAsked('revoke')}>
            Revoke
          </button>
        </div>
      )}
      {change && asked === 'revoke' && (
        <div class="row actions">
          <button type="button" class="danger" disabled={isBusy} onClick={() => void change.revoke(id)}>
            Revoke for good
          </button>
          <button type="button" onClick={end}>
            Keep
          </button>
        </div>
      )}
      {change && asked === 'limits' && (
        <LimitForm
          limits={limits ?? common}
          isOwn={limits !== null}
          isBusy={isBusy}
          onSet={(wanted) => void change.limit(id, wanted).then(end)}
          onEnd={end}
        />
      )}
    </li>
  );
}
