import * as z from 'zod';
import type { Dialect, DialectRoute } from '../../../runtime/dialects/dialect.js';
import { DIALECTS } from '../../../runtime/dialects/registry.js';
import type { Check } from '../check.js';
import type { Described } from '../document.js';
import { RECIPES } from '../dialects/recipes.js';
import { CheckFailure, demand, get, postRaw, type ServerUnderTest, shown } from '../server.js';
import type { Answer } from '../transport.js';

/**
 * Interfaces of other servers: one check for each route that the server's /openapi.json names, which has to say what POST /run says,
 * and one for the errors of each interface.
 */
export const dialectChecks = (described: Described): Check[] => checksOf(DIALECTS, described);

function checksOf(dialects: readonly Dialect[], described: Described): Check[] {
  return dialects.flatMap((dialect) => {
    const routes = dialect.routes.filter((route) => described.operations.has(documented(route)));
    if (routes.length === 0) return [];
    return [
      ...routes.map((route) => routeCheck(dialect, route, described)),
      check(dialect, 'errors', (server) => checkErrors(server, routes)),
    ];
  });
}

/**
 * The same at the root of a gateway, where a request names one of several models. Interfaces of one model are not there, nor are
 * routes whose bodies have no place for a name.
 */
export function catalogChecks(described: Described, root: ServerUnderTest['transport']): Check[] {
  const dialects = DIALECTS.filter(({ oneModel }) => !oneModel).map((dialect) => ({
    ...dialect,
    routes: dialect.routes.filter(({ body, path }) => !body || takesName(body) || /\*id|^\/mcp$/.test(path)),
  }));
  return checksOf(dialects, described).map(({ name, run, ...check }) => ({
    ...check,
    name: `${name} (catalogue)`,
    run: (server) => run({ ...server, transport: root }),
  }));
}

const takesName = (body: z.ZodType): boolean => body instanceof z.ZodObject && 'model' in body.shape;

function check({ name }: Dialect, what: string, run: Check['run']): Check {
  return { group: 'dialects', name: `${name} ${what}`, run };
}

function routeCheck(dialect: Dialect, route: DialectRoute, { model }: Described): Check {
  const key = routeKey(route);
  return check(dialect, key, (server) => {
    const recipe = RECIPES[key];
    if (!recipe) throw new CheckFailure('there is no check of this route');
    return recipe(server, pathOf(route, model));
  });
}

export const routeKey = ({ method, path }: DialectRoute): string => `${method} ${path}`;

/** As OpenAPI documents write a route. */
const documented = ({ method, path }: DialectRoute): string =>
  `${method} ${path.replaceAll(/[:*](\w+)/g, '{$1}')}`;

/** The route's address for a model. */
function pathOf({ path }: DialectRoute, model: string): string {
  return path.replace('*id', model).replace(':version', '1');
}

/** What is no JSON is refused with a reason, another method with those that there are, both in the interface's own shape. */
async function checkErrors(server: ServerUnderTest, routes: readonly DialectRoute[]): Promise<string> {
  const { model } = server.described;
  const reasons = new Set<string>();
  for (const route of routes) {
    const path = pathOf(route, model);
    const named = (answer: Answer) => `${routeKey(route)}: ${shown(answer)}`;
    if (route.body) {
      const answer = await postRaw(server, '{"model": ', { path });
      demand(answer.status === 400, `expected 400 for what is no JSON: ${named(answer)}`);
      reasons.add(messageOf(answer) ?? fail(`an error without a reason: ${named(answer)}`));
    }
    // Other methods of the root are other interfaces.
    if (path === '/') continue;
    const answer = await get(server, path, 'DELETE');
    const allowed = answer.headers['allow']?.includes(route.method) ?? false;
    demand(answer.status === 405 && allowed, `expected 405 with Allow: ${named(answer)}`);
  }
  return `${routes.length} routes refuse other methods; ${[...reasons][0] ?? 'none takes a body'}`;
}

function fail(message: string): never {
  throw new CheckFailure(message);
}

/** The text of an error, where the interfaces have it. */
function messageOf({ bytes }: Answer): string | undefined {
  const body = Object(JSON.parse(bytes.toString('utf8'))) as Record<string, unknown>;
  const { error, message } = body;
  const inner = (Object(error) as { message?: unknown }).message;
  return [error, inner, message].find((each) => typeof each === 'string' && each !== '') as
    string | undefined;
}
