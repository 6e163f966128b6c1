/** A key, which is kept until the page is closed and is nowhere but in its memory. */
export function KeyField({ value, onValue }: { value: string; onValue(value: string): void }) {
  return (
    <div class="field">
      <label for="key">key</label>
      <input
        id="key"
        type="password"
        autocomplete="off"
        value={value}
        onInput={({ currentTarget }) => onValue(currentTarget.value)}
      />
      <small>This server wants a key. It is kept until the page is closed.</small>
    </div>
  );
}
