import * as z from 'zod';
import { RunError } from '../../core/errors.js';
import type { Json } from '../repository/model-folder.js';
import type { AddedToken, TokenizerJson } from './tokenizer-json.js';

const addedToken = z.looseObject({ id: z.int().min(0), content: z.string() });

/** As serde writes the enumeration; anything else the library would take for no pattern at all. */
const pattern = z.union([z.object({ String: z.string() }), z.object({ Regex: z.string() })]);

const piece = z.union([
  z.object({ Sequence: z.looseObject({ id: z.enum(['A', 'B']) }) }),
  z.object({ SpecialToken: z.looseObject({ id: z.string() }) }),
]);

/** A token and its id, around texts of BERT's kind. */
const frame = z.tuple([z.string(), z.int().min(0)]);

/** Names of components are those of Rust's types. */
const type = z.string().regex(/^[A-Z]\w*$/, 'is no name of a component');

const component: z.ZodType<Json> = z.lazy(() =>
  z.looseObject({
    type: type.optional(),
    pattern: pattern.optional(),
    ...{ sep: frame.optional(), cls: frame.optional() },
    ...{ single: z.array(piece).optional(), pair: z.array(piece).optional() },
    special_tokens: z.record(z.string(), z.looseObject({ ids: z.array(z.int().min(0)) })).optional(),
    ...{ normalizers: parts.optional(), pretokenizers: parts.optional() },
    ...{ decoders: parts.optional(), processors: parts.optional() },
  }),
);
const parts = z.array(component);

/** Ids by tokens, or pairs of a token and its score. It may have hundreds of thousands of rows: only the form is looked at. */
const vocabulary = z.custom<Json | unknown[]>(
  (given) =>
    Array.isArray(given)
      ? given.every((row) => Array.isArray(row))
      : typeof given === 'object' && given !== null,
  'is neither an object nor a list of pairs',
);

const tokenizerJson = z.looseObject({
  added_tokens: z.array(addedToken),
  ...{ normalizer: component.nullish(), pre_tokenizer: component.nullish() },
  ...{ post_processor: component.nullish(), decoder: component.nullish() },
  model: z.looseObject({
    type: type.optional(),
    vocab: vocabulary,
    merges: z.custom<unknown[]>((given) => Array.isArray(given), 'is no list').optional(),
  }),
});

const listedTokens = z.record(z.string(), z.looseObject({ content: z.string() }));

/** @returns rows of `added_tokens_decoder` in tokenizer_config.json; throws RunError `not_ready` for what is no token */
export function listedTokensOf({ added_tokens_decoder: given }: Json): Partial<AddedToken>[] {
  const { data, error } = listedTokens.safeParse(given ?? {});
  if (error) throw new RunError('not_ready', told('tokenizer_config.json: added_tokens_decoder', error));
  return Object.values(data as Record<string, Partial<AddedToken>>);
}

/**
 * A file of a stranger as what is read of it.
 * @throws RunError `not_ready` that names what has another form
 */
export function checkTokenizerJson(json: Json): TokenizerJson {
  const { error } = tokenizerJson.safeParse(json);
  if (!error) return json as unknown as TokenizerJson;
  throw new RunError('not_ready', told('tokenizer.json', error));
}

function told(file: string, { issues }: z.ZodError): string {
  const { path, message } = issues[0]!;
  const where = path.join('.').slice(0, 200);
  return `${file}: ${where}: ${message.slice(0, 200)}; save the tokenizer again with transformers`;
}
