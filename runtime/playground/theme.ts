export type Theme = 'system' | 'light' | 'dark';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];
const KEY = 'slipway-theme';

/** The visitor's choice; the system's where there is none, or no storage. */
export function storedTheme(): Theme {
  try {
    const found = localStorage.getItem(KEY) as Theme;
    return THEMES.includes(found) ? found : 'system';
  } catch {
    return 'system';
  }
}

export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // A page without storage keeps the choice until it is closed.
  }
}

export const nextTheme = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length]!;
