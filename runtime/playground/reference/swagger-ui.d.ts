/** What we use of Swagger UI; its package has no types. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Request {
    url: string;
    headers: Record<string, string>;
  }
  type Component = (props: Record<string, unknown>) => unknown;
  /** Replaces components, or wraps them; they are made by Swagger UI's own React. */
  export type Plugin = (system: {
    React: { createElement(type: string | Component, props: object | null, ...children: unknown[]): unknown };
  }) => {
    components: Record<string, Component>;
    wrapComponents: Record<string, (original: Component) => Component>;
  };
  export default function SwaggerUI(options: {
    domNode: HTMLElement;
    spec: object;
    deepLinking: boolean;
    plugins: readonly Plugin[];
    defaultModelsExpandDepth: number;
    validatorUrl: null;
    requestInterceptor(request: Request): Request;
  }): void;
}
