import { useState } from 'preact/hooks';
import type { Described, Json } from './api/describe.js';
import type { Answer } from './api/run.js';
import { useAddress } from './results/medium.js';
import { Result } from './results/result.js';
import { snippetsOf } from './snippets.js';
import type { Call } from './use-call.js';

interface OutcomeProps {
  described: Described;
  call: Call;
  /** What was sent, or what would be. */
  body: Record<string, Json>;
  isChat: boolean;
  /** The server wants a key. */
  hasKey: boolean;
}

/** What has come of a call: the answer or the error, its JSON, and the same call as code. */
export function Outcome({ described, call, body, isChat, hasKey }: OutcomeProps) {
  const { answer, failure, isRunning } = call;
  return (
    <section aria-label="answer" class="outcome">
      {failure && (
        <div class="error" role="alert">
          <p>{failure.message}</p>
          <small>
            {failure.status > 0 && `status ${failure.status}`}
            {failure.requestId && `, request ${failure.requestId}`}
          </small>
        </div>
      )}
      {isRunning && <Progress answer={answer} />}
      {answer && !isChat && (answer.output !== undefined || answer.medium) && (
        <Result answer={answer} input={call.sent ?? {}} />
      )}
      {answer && <Figures answer={answer} />}
      {answer?.isDone && <Downloads answer={answer} />}
      {answer?.isDone && answer.output !== undefined && <Raw output={answer.output} />}
      <Snippets described={described} body={body} hasKey={hasKey} />
    </section>
  );
}

function Progress({ answer }: { answer: Answer | undefined }) {
  if (answer?.step)
    return (
      <p class="note">
        step {answer.step.step} of {answer.step.steps}{' '}
        <progress max={answer.step.steps} value={answer.step.step} aria-label="steps" />
      </p>
    );
  return answer?.pieces ? null : (
    <p class="note">
      <progress aria-label="the model is at work" />
    </p>
  );
}

function Figures({ answer: { milliseconds, pieces } }: { answer: Answer }) {
  const seconds = milliseconds / 1000;
  return (
    <p class="figures">
      {seconds.toFixed(2)} s{pieces > 1 && `, ${pieces} pieces, ${(pieces / seconds).toFixed(1)} a second`}
    </p>
  );
}

function Downloads({ answer: { medium, output } }: { answer: Answer }) {
  const isMedium = typeof output === 'string' && output.startsWith('data:');
  const address = useAddress(medium ?? (isMedium ? output : ''));
  if (!medium && !isMedium) return null;
  return (
    <a href={address} download="answer">
      Download
    </a>
  );
}

function Raw({ output }: { output: unknown }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>JSON</summary>
      {isOpen && <pre class="json">{JSON.stringify(output, null, 1)}</pre>}
    </details>
  );
}

function Snippets({ described, body, hasKey }: Pick<OutcomeProps, 'described' | 'body' | 'hasKey'>) {
  const base = new URL('.', location.href).href;
  const snippets = snippetsOf(described, body, { base, hasKey });
  const [name, setName] = useState('curl');
  const [copied, setCopied] = useState('');
  const text = snippets[name] ?? snippets['curl']!;
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(text);
  };
  return (
    <details class="snippets">
      <summary>Copy as code</summary>
      <div class="row">
        <select
          aria-label="language"
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        >
          {Object.keys(snippets).map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <button type="button" class="quiet" onClick={() => void copy()}>
          {copied === text ? 'Copied' : 'Copy'}
        </button>
      </div>
      <pre class="json">{text}</pre>
    </details>
  );
}
