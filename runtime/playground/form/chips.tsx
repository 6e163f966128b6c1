import { useState } from 'preact/hooks';

/** A list of short texts: Enter or a comma adds one, Backspace in an empty box takes the last one away. */
export function Chips({
  id,
  values,
  onValues,
}: {
  id: string;
  values: readonly string[];
  onValues(values: string[]): void;
}) {
  const [text, setText] = useState('');
  const add = () => {
    const added = text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '' && !values.includes(part));
    if (added.length > 0) onValues([...values, ...added]);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' || event.key === ',') {
      event.preventDefault();
      add();
    } else if (event.key === 'Backspace' && text === '' && values.length > 0) onValues(values.slice(0, -1));
  };
  return (
    <div class="chips">
      {values.map((value) => (
        <span class="chip" key={value}>
          {value}
          <button
            type="button"
            aria-label={`remove ${value}`}
            onClick={() => onValues(values.filter((each) => each !== value))}
          >
            ×
          </button>
        </span>
      ))}
      <input
        id={id}
        value={text}
        placeholder={values.length === 0 ? 'a label, then Enter' : ''}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onBlur={add}
      />
    </div>
  );
}
