import { render } from 'preact';
import { applyTheme, storedTheme } from '../../../runtime/playground/theme.js';
import { App } from './app.js';

/** Entry of the console's page. */
applyTheme(storedTheme());
render(<App />, document.body);
