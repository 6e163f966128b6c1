import { useEffect, useState } from 'preact/hooks';
import { describe, type Described } from './api/describe.js';
import { type Status, useStatus } from './api/status.js';
import { Playground } from './playground.js';
import { applyTheme, nextTheme, storedTheme } from './theme.js';

/** The whole page: the model's name and state, and its form once its description has come. */
export function App() {
  const status = useStatus();
  const [described, setDescribed] = useState<Described>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    describe().then(setDescribed, (error: Error) => setProblem(error.message));
  }, []);
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
        {described && <Playground described={described} />}
      </main>
      <footer>
        <a href="openapi.json">openapi.json</a> <a href="status">status</a> <a href="metrics">metrics</a>
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
