import { useEffect, useState } from 'preact/hooks';
import { ThemeButton } from '../../../runtime/playground/theme-button.js';
import { ask, useFeed } from './api.js';
import { ErrorTable } from './errors.js';
import { Keys } from './keys.js';
import { Login } from './login.js';
import { Models } from './models.js';
import { Problem } from './problem.js';
import { Overview } from './overview.js';
import { useAction } from './use-action.js';

interface SessionAnswer {
  isOpen: boolean;
}

/** The whole page: a form for the key, or the console. */
export function App() {
  const [isOpen, setOpen] = useState<boolean>();
  const look = useAction();
  const check = () => look.run(async () => setOpen((await ask<SessionAnswer>('GET', 'session')).isOpen));
  useEffect(() => void check(), []);
  if (isOpen) return <Console onEnded={() => void check()} onLeft={() => setOpen(false)} />;
  return (
    <>
      <header>
        <h1>Slipway console</h1>
        <ThemeButton />
      </header>
      <main>
        <Problem text={look.problem} />
        {isOpen === false && <Login onOpen={() => setOpen(true)} />}
      </main>
    </>
  );
}

function Console({ onEnded, onLeft }: { onEnded(): void; onLeft(): void }) {
  const { state, isLive } = useFeed(onEnded);
  const leave = useAction();
  const signOut = () => leave.run(() => ask('DELETE', 'session').then(onLeft));
  return (
    <>
      <header>
        <div>
          <h1>Slipway console</h1>
          {state && <p>gateway {state.version}</p>}
        </div>
        <div class="row">
          <span class={`state ${isLive ? 'ready' : 'unreachable'}`} role="status">
            {isLive ? 'live' : 'no connection'}
          </span>
          <ThemeButton />
          <button type="button" class="quiet" onClick={() => void signOut()}>
            Sign out
          </button>
        </div>
      </header>
      <main class="sections">
        <Problem text={leave.problem} />
        {state && (
          <>
            <Overview state={state} />
            <Models models={state.models} playground={state.playground} />
            <Keys />
            <ErrorTable errors={state.errors} />
          </>
        )}
      </main>
    </>
  );
}
