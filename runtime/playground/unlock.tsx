import type { Access } from './api/document.js';
import { KeyField } from './key-field.js';

/** What keeps the model's description away, and the key that opens it. */
export function Unlock({ access: { problem, isLocked, secret, setSecret, load } }: { access: Access }) {
  return (
    <>
      {problem && (
        <p class="error" role="alert">
          {problem}
        </p>
      )}
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
    </>
  );
}
