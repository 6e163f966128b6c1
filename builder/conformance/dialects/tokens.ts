import * as z from 'zod';
import { demand, get, outputOf, post, type ServerUnderTest } from '../server.js';
import { jsonOf, type Recipe, requireSame } from './recipe.js';

const TEXT = 'How tall is the tower?';
const IDS = z.array(z.int().min(0)).min(1);

/** The model's own tokens of a text. */
async function ownTokens(server: ServerUnderTest): Promise<number[]> {
  const output = outputOf(await post(server, { tokenizer: { encode: [TEXT] } }));
  const { tokens } = z
    .object({ tokens: z.array(z.array(z.object({ id: z.int() }))).length(1) })
    .parse(output);
  return tokens[0]!.map(({ id }) => id);
}

const named = ({ described }: ServerUnderTest) => ({ model: described.model });

export const tokenize: Recipe = async (server, path) => {
  const answer = jsonOf(await post(server, { ...named(server), prompt: TEXT }, { path }));
  const { count, tokens } = z.object({ count: z.int(), tokens: IDS }).parse(answer);
  requireSame(tokens, await ownTokens(server));
  demand(count === tokens.length, `it counts ${count}, and there are ${tokens.length}`);
  return `${count} tokens, as POST /run tells them`;
};

async function ownText(server: ServerUnderTest, tokens: readonly number[]): Promise<string> {
  const decode = { decode: [tokens], skip_special_tokens: false };
  const output = outputOf(await post(server, { tokenizer: decode }));
  return z.object({ texts: z.array(z.string()).length(1) }).parse(output).texts[0]!;
}

export const detokenize: Recipe = async (server, path) => {
  const tokens = await ownTokens(server);
  const answer = jsonOf(await post(server, { ...named(server), tokens }, { path }));
  const { prompt } = z.object({ prompt: z.string() }).parse(answer);
  requireSame(prompt, await ownText(server, tokens));
  return `as POST /run: ${JSON.stringify(prompt)}`;
};

export const decode: Recipe = async (server, path) => {
  const ids = await ownTokens(server);
  // The body has no place for a model's name.
  const answer = await post(server, { ids, skip_special_tokens: false }, { path });
  const texts = z.array(z.string()).parse(jsonOf(answer));
  requireSame(texts, [await ownText(server, ids)]);
  return `as POST /run: ${JSON.stringify(texts[0])}`;
};

export const tokenizerInfo: Recipe = async (server, path) => {
  const answer = await get(server, `${path}?model=${encodeURIComponent(server.described.model)}`);
  const info = z.record(z.string(), z.unknown()).parse(jsonOf(answer));
  const output = outputOf(await post(server, { tokenizer: { info: true } }));
  requireSame(info, z.object({ info: z.unknown() }).parse(output).info);
  return `${Object.keys(info).length} properties, as POST /run tells them`;
};
