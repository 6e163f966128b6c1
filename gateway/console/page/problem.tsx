/** What went wrong, told to screen readers at once. */
export function Problem({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
