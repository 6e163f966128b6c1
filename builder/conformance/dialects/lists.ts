import * as z from 'zod';
import { demand, get, post, type ServerUnderTest, shown } from '../server.js';
import { jsonOf, type Recipe } from './recipe.js';

/** GET: an answer of this form, of which `see` tells something. */
const gives =
  <T>(form: z.ZodType<T>, see: (value: T, server: ServerUnderTest) => string): Recipe =>
  async (server, path) =>
    see(form.parse(jsonOf(await get(server, path))), server);

/** Whether a model of this task is asked by one of these routes. */
const hasRoute = ({ described }: ServerUnderTest, route: RegExp): boolean =>
  [...described.operations].some((operation) => route.test(operation));

/** A list of models: this one is in it where a route of the same interface is for its task. */
const lists = (route: RegExp, form: z.ZodType<readonly string[]>): Recipe =>
  gives(form, (names, server) => {
    const { model, task } = server.described;
    const isListed = names.some((name) => name === model || name === `${model}:latest`);
    if (!hasRoute(server, route)) {
      demand(!isListed, `${model} is listed, and no route here is for ${task}`);
      return `not listed: no route here is for ${task}`;
    }
    demand(isListed, `${model} is not listed`);
    return `${model} is listed`;
  });

const ids = z
  .object({ data: z.array(z.object({ id: z.string() })) })
  .transform(({ data }) => data.map(({ id }) => id));
const named = z
  .object({ models: z.array(z.object({ name: z.string() })) })
  .transform(({ models }) => models.map(({ name }) => name));

/** Routes that a listed model of OpenAI's interface is asked by; lists and voices are none. */
const OPENAI = /^POST \/v1\/(?:chat|completions|embeddings|moderations|audio|images)/;

export const openAiModels = lists(OPENAI, ids);
export const infinityModels = lists(/^POST \/infinity\//, ids);
export const ollamaModels = lists(/^POST \/api\/(?:chat|generate|embed)$/, named);

/** GET v1/audio/models: the model is there, since only models that speak have this route. */
export const speakers = lists(/^POST \/v1\/audio\/speech/, named);

export const openAiModel: Recipe = async (server, path) => {
  const answer = await get(server, path);
  const { model, task } = server.described;
  if (answer.status === 404 && !hasRoute(server, OPENAI)) return `not there: no route here is for ${task}`;
  const { id } = z.object({ id: z.string() }).parse(jsonOf(answer));
  demand(id === model, `it is ${id}`);
  return id;
};

const kept = (value: object): string => JSON.stringify(value);

export const infinityHealth = gives(z.object({ unix: z.number() }), kept);
export const ollamaVersion = gives(z.looseObject({ version: z.string().regex(/^\d+\.\d+\.\d+/) }), kept);
export const ping = gives(z.object({ status: z.literal('healthy') }), kept);
export const serverName = gives(z.looseObject({ name: z.string(), version: z.string() }), kept);
export const live = gives(z.object({ live: z.literal(true) }), kept);
export const ready = gives(z.looseObject({ ready: z.literal(true) }), kept);

const isModel = (told: string, { described }: ServerUnderTest): string => {
  demand(told === described.model, `it is ${told}`);
  return told;
};

export const teiInfo = gives(z.object({ model_id: z.string() }), ({ model_id: id }, server) =>
  isModel(id, server),
);
export const modelTensors = gives(
  z.object({ name: z.string(), inputs: z.array(z.unknown()).min(1), outputs: z.array(z.unknown()).min(1) }),
  ({ name }, server) => isModel(name, server),
);

/** POST with the model's name alone. */
const ofModel =
  (form: z.ZodType<object>): Recipe =>
  async (server, path) =>
    kept(form.parse(jsonOf(await post(server, { model: server.described.model }, { path })))).slice(0, 80);

export const ollamaShow = ofModel(z.looseObject({ capabilities: z.array(z.string()) }));
export const ollamaPull = ofModel(z.object({ status: z.literal('success') }));

/** What only the operator may do. */
export const refused: Recipe = async (server, path) => {
  const answer = await post(server, { model: server.described.model }, { path });
  demand(answer.status === 400, `expected 400: ${shown(answer)}`);
  return 'refused: 400';
};
