import { useEffect, useState } from 'preact/hooks';
import type { Field, Json } from '../api/describe.js';
import { controlOf } from '../api/schema.js';

interface ParamsProps {
  fields: readonly Field[];
  /** Those that were changed. */
  params: Readonly<Record<string, Json>>;
  onParams(params: Record<string, Json>): void;
}

/** All parameters behind one fold; those that were changed are marked. */
export function Params({ fields, params, onParams }: ParamsProps) {
  if (fields.length === 0) return null;
  const changed = Object.keys(params).length;
  const set = (name: string, value: Json) => {
    const { [name]: _, ...others } = params;
    onParams(value === undefined ? others : { ...others, [name]: value });
  };
  return (
    <details class="params">
      <summary>Parameters {changed > 0 && <span class="count">{changed} changed</span>}</summary>
      {changed > 0 && (
        <button type="button" class="quiet" onClick={() => onParams({})}>
          Reset all
        </button>
      )}
      <div class="grid">
        {fields.map((field) => (
          <Param
            key={field.name}
            field={field}
            value={params[field.name]}
            onValue={(value) => set(field.name, value)}
          />
        ))}
      </div>
    </details>
  );
}

interface ParamProps {
  field: Field;
  value: Json;
  /** Undefined: as the model has it. */
  onValue(value: Json): void;
}

function Param({ field, value, onValue }: ParamProps) {
  const id = `param-${field.name}`;
  return (
    <div class={`param${value === undefined ? '' : ' changed'}`}>
      <label for={id}>{field.name}</label>
      <ParamControl id={id} field={field} value={value} onValue={onValue} />
      {field.schema.description && <small>{field.schema.description}</small>}
    </div>
  );
}

function ParamControl({ id, field, value, onValue }: ParamProps & { id: string }) {
  const control = controlOf(field.schema);
  const hint = field.schema.default === undefined ? 'default' : String(field.schema.default);
  if (control.kind === 'flag' || control.kind === 'choice') {
    const values = control.kind === 'flag' ? ['true', 'false'] : control.values;
    const read = (text: string) => (control.kind === 'flag' ? text === 'true' : text);
    return (
      <select
        id={id}
        value={value === undefined ? '' : String(value)}
        onChange={({ currentTarget }) =>
          onValue(currentTarget.value === '' ? undefined : read(currentTarget.value))
        }
      >
        <option value="">{hint}</option>
        {values.map((each) => (
          <option key={each}>{each}</option>
        ))}
      </select>
    );
  }
  if (control.kind === 'number')
    return (
      <input
        id={id}
        type="number"
        min={control.min}
        max={control.max}
        step={control.whole ? 1 : 'any'}
        placeholder={hint}
        value={value === undefined ? '' : String(value)}
        onInput={({ currentTarget }) =>
          onValue(currentTarget.value === '' ? undefined : Number(currentTarget.value))
        }
      />
    );
  if (control.kind === 'text')
    return (
      <input
        id={id}
        value={typeof value === 'string' ? value : ''}
        placeholder={hint}
        onInput={({ currentTarget }) => onValue(currentTarget.value || undefined)}
      />
    );
  return <JsonControl id={id} value={value} hint={hint} onValue={onValue} />;
}

interface JsonProps {
  id: string;
  value: Json;
  hint: string;
  onValue(value: Json): void;
}

/** A value as JSON; what is no JSON yet stays in the box and is not sent. */
function JsonControl({ id, value, hint, onValue }: JsonProps) {
  const [text, setText] = useState(value === undefined ? '' : JSON.stringify(value));
  const [isBroken, setBroken] = useState(false);
  useEffect(() => {
    if (value === undefined && !isBroken) setText('');
  }, [value]);
  const read = (next: string) => {
    setText(next);
    try {
      onValue(next.trim() === '' ? undefined : (JSON.parse(next) as Json));
      setBroken(false);
    } catch {
      setBroken(true);
      onValue(undefined);
    }
  };
  return (
    <textarea
      id={id}
      rows={1}
      class="mono"
      placeholder={hint === 'default' ? 'JSON' : hint}
      aria-invalid={isBroken}
      value={text}
      onInput={({ currentTarget }) => read(currentTarget.value)}
    />
  );
}
