import { useRef, useState } from 'preact/hooks';
import type { Json } from '../api/describe.js';
import { dataUrlOf } from './files.js';
import { Medium } from '../results/medium.js';
import { Recorder } from './recorder.js';

interface MediaFieldProps {
  /** image, audio or video. */
  kind: string;
  input: Readonly<Record<string, Json>>;
  onInput(changed: Record<string, Json>): void;
}

/** A medium by drop, paste, file, recording or address. One that is given by its address is not shown: the page asks nobody else. */
export function MediaField({ kind, input, onInput }: MediaFieldProps) {
  const picker = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const { base64, url } = input;
  const take = async (file: Blob | null | undefined) => {
    if (file) onInput({ base64: await dataUrlOf(file), url: undefined });
  };
  const onPaste = (event: ClipboardEvent) => void take(event.clipboardData?.files[0]);
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void take(event.dataTransfer?.files[0]);
  };
  return (
    <div class="field">
      <label for="field-url">{kind}</label>
      <div
        class={`drop${isOver ? ' over' : ''}`}
        onPaste={onPaste}
        onDrop={onDrop}
        onDragOver={(event) => {
          event.preventDefault();
          setOver(true);
        }}
        onDragLeave={() => setOver(false)}
      >
        {typeof base64 === 'string' && <Medium source={base64} kind={kind} />}
        <div class="row">
          <button type="button" class="quiet" onClick={() => picker.current?.click()}>
            Choose a file
          </button>
          <Recorder kind={kind} onRecorded={(blob) => void take(blob)} />
          {base64 !== undefined && (
            <button type="button" class="quiet" onClick={() => onInput({ base64: undefined })}>
              Remove
            </button>
          )}
        </div>
        <input
          ref={picker}
          class="hidden"
          type="file"
          tabIndex={-1}
          aria-label={`file with the ${kind}`}
          accept={`${kind}/*`}
          onChange={(event) => {
            void take(event.currentTarget.files?.[0]);
            event.currentTarget.value = '';
          }}
        />
        <input
          id="field-url"
          type="url"
          placeholder="Drop, paste, or give an address"
          value={typeof url === 'string' ? url : ''}
          onInput={(event) => onInput({ url: event.currentTarget.value || undefined, base64: undefined })}
        />
      </div>
    </div>
  );
}
