import { useState } from 'preact/hooks';
import type { KeyLimits, KeyState } from '../state.js';
import { dollars, duration, plural, time, tokens } from './format.js';
import { KeyUsage } from './key-usage.js';
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
  const [opened, setOpened] = useState<'usage' | 'limits' | 'revoke'>();
  const { id, name, created, limits, own } = row;
  const isOwn = own.rate !== undefined || own.concurrent !== undefined;
  const close = () => setOpened(undefined);
  const toggle = (part: 'usage' | 'limits') => setOpened(opened === part ? undefined : part);
  return (
    <li class="key">
      <div class="name">
        <strong>{name || 'no name'}</strong> <code>{id}</code>
      </div>
      <div>
        <div>{usageText(row)}</div>
        <div class="note">
          at most {limitsText(limits)} {isOwn && <span class="badge">own limits</span>}
        </div>
        <div class="note">created {time(created)}</div>
      </div>
      {opened !== 'revoke' && (
        <div class="row actions">
          <Fold name="Usage" of={name || id} isOpen={opened === 'usage'} onToggle={() => toggle('usage')} />
          {actions && (
            <>
              <Fold
                name="Limits"
                of={name || id}
                isOpen={opened === 'limits'}
                onToggle={() => toggle('limits')}
              />
              <button type="button" aria-label={`Revoke ${name || id}`} onClick={() => setOpened('revoke')}>
                Revoke
              </button>
            </>
          )}
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
      {opened === 'usage' && <KeyUsage row={row} />}
      {actions && opened === 'limits' && <LimitForm row={row} all={all} actions={actions} onDone={close} />}
    </li>
  );
}

function usageText(row: KeyState): string {
  if (row.calls === 0) return 'no calls since the gateway started';
  const facts = [
    plural(row.calls, 'call'),
    `models worked ${duration(row.seconds)}`,
    dollars(row.cost),
    tokens(row),
  ];
  return facts.filter((fact) => fact !== '').join(' · ');
}

interface FoldProps {
  name: string;
  of: string;
  isOpen: boolean;
  onToggle(): void;
}

function Fold({ name, of, isOpen, onToggle }: FoldProps) {
  return (
    <button type="button" aria-label={`${name} of ${of}`} aria-expanded={isOpen} onClick={onToggle}>
      {name}
    </button>
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
