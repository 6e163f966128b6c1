import { useEffect, useMemo } from 'preact/hooks';
import { describedBy } from './api/describe.js';
import { useDocument } from './api/document.js';
import { type Status, useStatus } from './api/status.js';
import { Playground } from './playground.js';
import { ThemeButton } from './theme-button.js';
import { Unlock } from './unlock.js';

/** The whole page: the model's name and state, and its form once its description has come. */
export function App() {
  const status = useStatus();
  const access = useDocument();
  const described = useMemo(() => access.document && describedBy(access.document), [access.document]);
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
        <Waiting status={status} />
        <Unlock access={access} />
        {described && <Playground described={described} secret={access.secret} onSecret={access.setSecret} />}
      </main>
      <footer>
        <a href="docs">API reference</a>
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
