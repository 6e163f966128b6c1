import type { KeyLimits, KeyState } from '../state.js';
import { count, plural, span } from './format.js';

type OwnLimits = KeyState['own'];

/** What is typed; empty for the limits of all keys. */
export interface LimitTexts {
  calls: string;
  seconds: string;
  concurrent: string;
}

export const NO_LIMITS: LimitTexts = { calls: '', seconds: '', concurrent: '' };

export const textsOf = ({ rate, concurrent }: OwnLimits): LimitTexts => ({
  calls: String(rate?.calls ?? ''),
  seconds: String(rate?.seconds ?? ''),
  concurrent: String(concurrent ?? ''),
});

export const limitsOf = ({ calls, seconds, concurrent }: LimitTexts): OwnLimits => ({
  ...(calls !== '' && { rate: { calls: Number(calls), seconds: Number(seconds) } }),
  ...(concurrent !== '' && { concurrent: Number(concurrent) }),
});

export function limitsText({ calls, seconds, concurrent }: KeyLimits): string {
  const rate = `${plural(calls, 'call')} in ${span(seconds)}`;
  return concurrent === null ? rate : `${rate}, ${count(concurrent)} at once`;
}

/** What a rate has to have where its other half is there. */
const PARTNER = { calls: 'seconds', seconds: 'calls', concurrent: 'concurrent' } as const;

interface Props {
  texts: LimitTexts;
  /** What holds where a field is empty. */
  all: KeyLimits;
  onChange(texts: LimitTexts): void;
}

/** Fields of the limits of one key. */
export function LimitFields({ texts, all, onChange }: Props) {
  const field = (name: keyof LimitTexts, label: string, fallback: number | null) => (
    <label class="limit">
      <span>{label}</span>
      <input
        type="number"
        min={name === 'seconds' ? 0.001 : 1}
        step={name === 'seconds' ? 'any' : 1}
        required={texts[PARTNER[name]] !== ''}
        placeholder={String(fallback ?? 'any')}
        value={texts[name]}
        onInput={({ currentTarget }) => onChange({ ...texts, [name]: currentTarget.value })}
      />
    </label>
  );
  return (
    <>
      {field('calls', 'calls', all.calls)}
      {field('seconds', 'in seconds', all.seconds)}
      {field('concurrent', 'at once', all.concurrent)}
    </>
  );
}
