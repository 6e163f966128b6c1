import { render } from 'preact';
import { App } from './app.js';
import { applyTheme, storedTheme } from './theme.js';

/** Entry of the page that a model serves at its address. */
applyTheme(storedTheme());
render(<App />, document.body);
