/** What we use of Swagger UI; its package has no types. */
declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  interface Request {
    url: string;
    headers: Record<string, string>;
  }
  export default function SwaggerUI(options: {
    domNode: HTMLElement;
    spec: object;
    deepLinking: boolean;
    defaultModelsExpandDepth: number;
    validatorUrl: null;
    requestInterceptor(request: Request): Request;
  }): void;
}
