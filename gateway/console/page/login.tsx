import { useState } from 'preact/hooks';
import { ask } from './api.js';
import { Problem } from './problem.js';
import { useAction } from './use-action.js';

/** Asks for the key of the console. */
export function Login({ onOpen }: { onOpen(): void }) {
  const [key, setKey] = useState('');
  const signIn = useAction();
  return (
    <form
      class="login"
      onSubmit={(event) => {
        event.preventDefault();
        void signIn.run(async () => {
          await ask('POST', 'session', { key });
          onOpen();
        });
      }}
    >
      <Problem text={signIn.problem} />
      <div class="field">
        <label for="console-key">key of the console</label>
        <input
          id="console-key"
          type="password"
          autocomplete="off"
          required
          value={key}
          onInput={({ currentTarget }) => setKey(currentTarget.value)}
        />
        <small>
          It is in the file of --console-key-file, or was printed when the gateway started. It is no caller’s
          key.
        </small>
      </div>
      <div class="row">
        <button type="submit" class="main" disabled={signIn.isBusy}>
          Sign in
        </button>
      </div>
    </form>
  );
}
