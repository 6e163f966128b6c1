import type { Field, Json } from '../api/describe.js';
import { Chips } from './chips.js';
import { MediaField } from './media-field.js';

interface FormProps {
  fields: readonly Field[];
  /** Kind of the medium: image, audio or video. */
  modality: string;
  input: Readonly<Record<string, Json>>;
  onInput(changed: Record<string, Json>): void;
}

/** The fields at the top of a request, but for messages. */
export function Fields({ fields, modality, input, onInput }: FormProps) {
  return (
    <>
      {fields.map((field) => {
        if (field.name === 'base64' || field.name === 'messages') return null;
        if (field.name === 'url')
          return <MediaField key="url" kind={modality} input={input} onInput={onInput} />;
        const set = (value: Json) => onInput({ [field.name]: value });
        return <OneField key={field.name} field={field} value={input[field.name]} onValue={set} />;
      })}
    </>
  );
}

function OneField({ field, value, onValue }: { field: Field; value: Json; onValue(value: Json): void }) {
  const id = `field-${field.name}`;
  const takesList = (field.schema.anyOf ?? [field.schema]).some(({ type }) => type === 'array');
  return (
    <div class="field">
      <label for={id}>{field.name.replaceAll('_', ' ')}</label>
      {takesList ? (
        <Chips id={id} values={listOf(value)} onValues={onValue} />
      ) : (
        <textarea
          id={id}
          rows={field.name === 'question' ? 1 : 4}
          value={typeof value === 'string' ? value : ''}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
      {field.schema.description && <small>{field.schema.description}</small>}
    </div>
  );
}

/** A list may also be given as one text with commas. */
function listOf(value: Json): string[] {
  if (Array.isArray(value)) return value.map(String);
  return typeof value === 'string' ? value.split(',').map((part) => part.trim()) : [];
}
