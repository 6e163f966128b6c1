import { useRef, useState } from 'preact/hooks';
import { dataUrlOf } from '../form/files.js';
import { Medium } from '../results/medium.js';
import { type Message, userMessage } from './messages.js';

interface ComposerProps {
  blocks: string | undefined;
  isRunning: boolean;
  onSend(message: Message): void;
  onStop(): void;
}

/** The box for the next message. Enter sends, Shift and Enter breaks the line. */
export function Composer({ blocks, isRunning, onSend, onStop }: ComposerProps) {
  const [text, setText] = useState('');
  const [media, setMedia] = useState<{ kind: string; source: string }[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const attach = async (files: FileList | null | undefined) => {
    const added = await Promise.all(
      [...(files ?? [])].map(async (file) => ({ kind: blocks!, source: await dataUrlOf(file) })),
    );
    setMedia((before) => [...before, ...added]);
  };
  const send = () => {
    if (isRunning || (text.trim() === '' && media.length === 0)) return;
    onSend(userMessage(text, media));
    setText('');
    setMedia([]);
  };
  return (
    <div class="composer" onPaste={(event) => blocks && void attach(event.clipboardData?.files)}>
      {media.map(({ kind, source }) => (
        <Medium key={source.slice(-40)} kind={kind} source={source} />
      ))}
      <label for="composer">Message</label>
      <textarea
        id="composer"
        rows={2}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
          event.preventDefault();
          send();
        }}
      />
      <div class="row">
        {isRunning ? (
          <button type="button" class="main" onClick={onStop}>
            Stop
          </button>
        ) : (
          <button type="button" class="main" onClick={send}>
            Send
          </button>
        )}
        {blocks && (
          <>
            <button type="button" class="quiet" onClick={() => picker.current?.click()}>
              Attach {blocks}
            </button>
            <input
              ref={picker}
              class="hidden"
              type="file"
              multiple
              tabIndex={-1}
              aria-label={`files with ${blocks}`}
              accept={`${blocks}/*`}
              onChange={({ currentTarget }) => void attach(currentTarget.files)}
            />
          </>
        )}
      </div>
    </div>
  );
}
