import { useEffect, useState } from 'preact/hooks';
import { describe, type Described, KeyNeeded } from './api/describe.js';
import { type Status, useStatus } from './api/status.js';
import { KeyField } from './key-field.js';
import { Playground } from './playground.js';
import { applyTheme, nextTheme, storedTheme } from './theme.js';

/** The whole page: the model's name and state, and its form once its description has come. */
export function App() {
  const status = useStatus();
  const [described, setDescribed] = useState<Described>();
  const [problem, setProblem] = useState('');
  const [secret, setSecret] = useState('');
  const [isLocked, setLocked] = useState(false);
  const load = async () => {
    try {
      setDescribed(await describe(secret));
      setProblem('');
      setLocked(false);
    } catch (error) {
      setProblem((error as Error).message);
      setLocked(error instanceof KeyNeeded);
    }
  };
  useEffect(() => void load(), []);
  useEffect(() => {
    if (described) document.title = `${described.model} – ${described.title}`;
  }, [described]);
  return (
    <>
      <header>
        <div>
          <h1>{described?.model ?? 'Slipway'}</h1>
          {described && (
            <p>
              <span class="badge">{described.task}</span> {described.summary}
            </p>
          )}
        </div>
        <div class="row">
          <StateBadge status={status} />
          <ThemeButton />
        </div>
      </header>
      <main>
        {problem && (
          <p class="error" role="alert">
            {problem}
          </p>
        )}
        <Waiting status={status} />
        {isLocked && (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void load();
            }}
          >
            <KeyField value={secret} onValue={setSecret} />
            <button type="submit" class="main">
              Open
            </button>
          </form>
        )}
        {described && <Playground described={described} secret={secret} onSecret={setSecret} />}
      </main>
      <footer>
        <a href="openapi.json">openapi.json</a>
        {['status', 'metrics']
          .filter((name) => described?.paths.includes(`/${name}`))
          .map((name) => (
            <a key={name} href={name}>
              {name}
            </a>
          ))}
      </footer>
    </>
  );
}

function StateBadge({ status }: { status: Status | undefined }) {
  const state = status?.state ?? 'asking';
  return (
    <span class={`state ${state}`} role="status">
      {state}
    </span>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(storedTheme);
  const turn = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <button type="button" class="quiet" onClick={turn}>
      Theme: {theme}
    </button>
  );
}

/** How far a model is that is not ready yet, or why it never will be. */
function Waiting({ status }: { status: Status | undefined }) {
  if (!status || status.state === 'ready') return null;
  const { state, reason, progress } = status;
  return (
    <p class={state === 'failed' ? 'error' : 'note'} role="status">
      The model is not ready: {state}
      {reason ? `: ${reason}` : '.'}
      {progress !== null && <progress max={1} value={progress} aria-label="share that has come" />}
    </p>
  );
}
