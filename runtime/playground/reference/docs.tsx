import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import SwaggerUI, { type Plugin } from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import { type OpenApi, useDocument } from '../api/document.js';
import { ThemeButton } from '../theme-button.js';
import { applyTheme, storedTheme, type Theme } from '../theme.js';
import { Unlock } from '../unlock.js';

/** Swagger UI has its dark colours below this class, whatever the system says. */
const showTheme = (theme: Theme) => {
  const isDark =
    theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.classList.toggle('dark-mode', isDark);
};

/** The reference of a model's interface, drawn from its own OpenAPI document. */
function Reference() {
  const access = useDocument();
  return (
    <>
      <header>
        <h1>API reference</h1>
        <div class="row">
          <a href=".">Playground</a>
          <a href="openapi.json">openapi.json</a>
          <ThemeButton onTheme={showTheme} />
        </div>
      </header>
      <main>
        <Unlock access={access} />
        {access.document && <Operations document={access.document} secret={access.secret} />}
      </main>
    </>
  );
}

/**
 * What stands in the way of those who go by keyboard or by ear. Summaries of operations are buttons, in which a link would be a second
 * one: the address follows what is open without it. The cross that closes a dialog and the body of a request have no name, and
 * buttons have another than the one that is read on them.
 */
const mendings: Plugin = ({ React: { createElement } }) => ({
  components: {
    DeepLink: ({ text }) => createElement('span', null, text),
    CloseIcon: () => createElement('span', { role: 'img', 'aria-label': 'Close' }, '×'),
  },
  wrapComponents: {
    Button: (Original) => (props) => createElement(Original, { ...props, 'aria-label': undefined }),
    TextArea: (Original) => (props) => createElement(Original, { ...props, 'aria-label': 'Request body' }),
  },
});

/** Swagger UI in a box of its own; what is tried there is sent to this server with the visitor's key. */
function Operations({ document, secret }: { document: OpenApi; secret: string }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    SwaggerUI({
      domNode: box.current!,
      spec: document,
      deepLinking: true,
      plugins: [mendings],
      defaultModelsExpandDepth: 0,
      // Nobody else is asked whether the document is valid.
      validatorUrl: null,
      requestInterceptor: (request) => {
        if (secret) request.headers['Authorization'] ??= `Key ${secret}`;
        return request;
      },
    });
  }, []);
  return <div ref={box} />;
}

applyTheme(storedTheme());
showTheme(storedTheme());
render(<Reference />, document.body);
