import { useId, useState } from 'preact/hooks';
import type { Limits } from '../state.js';
import { count, duration } from './format.js';

export function limitsText({ calls, seconds, concurrent }: Limits): string {
  const rate = `${count(calls)} calls in ${duration(seconds)}`;
  return concurrent === null ? rate : `${rate}, ${count(concurrent)} at once`;
}

interface LimitFormProps {
  limits: Limits;
  /** The key has limits of its own now. */
  isOwn: boolean;
  isBusy: boolean;
  /** @param limits null for those of all keys */
  onSet(limits: object | null): void;
  onEnd(): void;
}

/** Limits of one key, in place of those of all. */
export function LimitForm({ limits, isOwn, isBusy, onSet, onEnd }: LimitFormProps) {
  const [calls, setCalls] = useState(String(limits.calls));
  const [seconds, setSeconds] = useState(String(limits.seconds));
  const [concurrent, setConcurrent] = useState(String(limits.concurrent ?? ''));
  return (
    <form
      class="row limits"
      onSubmit={(event) => {
        event.preventDefault();
        const rate = { calls: Number(calls), seconds: Number(seconds) };
        onSet(concurrent === '' ? rate : { ...rate, concurrent: Number(concurrent) });
      }}
    >
      <NumberField label="calls" value={calls} onInput={setCalls} isRequired step="1" />
      <NumberField label="in seconds" value={seconds} onInput={setSeconds} isRequired step="any" />
      <NumberField label="at once (empty: any)" value={concurrent} onInput={setConcurrent} step="1" />
      <button type="submit" class="main" disabled={isBusy}>
        Set
      </button>
      {isOwn && (
        <button type="button" disabled={isBusy} onClick={() => onSet(null)}>
          As all keys
        </button>
      )}
      <button type="button" onClick={onEnd}>
        Cancel
      </button>
    </form>
  );
}

interface NumberFieldProps {
  label: string;
  value: string;
  onInput(value: string): void;
  isRequired?: boolean;
  step: string;
}

function NumberField({ label, value, onInput, isRequired = false, step }: NumberFieldProps) {
  const id = useId();
  return (
    <div class="small-field">
      <label for={id}>{label}</label>
      <input
        {...{ id, value, step, type: 'number', required: isRequired }}
        min={step === '1' ? '1' : '0.001'}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
    </div>
  );
}
