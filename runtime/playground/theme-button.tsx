import { useState } from 'preact/hooks';
import { applyTheme, nextTheme, storedTheme, type Theme } from './theme.js';

/** Turns from the system's theme to light to dark. */
export function ThemeButton({ onTheme }: { onTheme?(theme: Theme): void }) {
  const [theme, setTheme] = useState(storedTheme);
  const turn = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    onTheme?.(next);
    setTheme(next);
  };
  return (
    <button type="button" class="quiet" onClick={turn}>
      Theme: {theme}
    </button>
  );
}
