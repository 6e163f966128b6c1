import type { Json } from '../repository/model-folder.js';

/** One row of `added_tokens` in tokenizer.json. */
export interface AddedToken {
  id: number;
  content: string;
  single_word: boolean;
  lstrip: boolean;
  rstrip: boolean;
  normalized: boolean;
  special: boolean;
}

/** A component of tokenizer.json: `type` says which one, the rest are its settings. */
export type Component = Json & { type?: string };

/** tokenizer.json as far as we read it. */
export interface TokenizerJson {
  added_tokens: AddedToken[];
  normalizer: Component | null;
  pre_tokenizer: Component | null;
  model: Component & { vocab: Record<string, number> | [string, number][] };
  post_processor: Component | null;
  decoder: Component | null;
  padding?: { direction?: string; pad_token?: string } | null;
  truncation?: { direction?: string } | null;
}

/** Names of the special tokens in tokenizer_config.json. */
export const SPECIAL_TOKENS = [
  'bos_token',
  'eos_token',
  'unk_token',
  'sep_token',
  'pad_token',
  'cls_token',
  'mask_token',
] as const;

/** A special token in tokenizer_config.json is a string or an AddedToken object. */
export function tokenText(token: unknown): string {
  if (typeof token === 'string') return token;
  const content = (token as { content?: unknown } | null | undefined)?.content;
  return typeof content === 'string' ? content : '';
}

/** The texts of all special tokens. */
export function specialTexts(config: Json): Set<string> {
  const { named, further } = specialTokensOf(config);
  return new Set([...Object.values(named), ...further]);
}

/** Special tokens that tokenizer_config.json names: by their names (the model's own ones, too), and further ones. */
export function specialTokensOf(config: Json): { named: Record<string, string>; further: string[] } {
  const own = config['extra_special_tokens'] ?? {};
  // transformers 5 writes further tokens there, as a list.
  const [more, list] = Array.isArray(own) ? [{}, own as unknown[]] : [own as Json, []];
  const names = [...SPECIAL_TOKENS.map((name) => [name, config[name]] as const), ...Object.entries(more)];
  const further = [...((config['additional_special_tokens'] ?? []) as unknown[]), ...list];
  return {
    named: Object.fromEntries(
      names.map(([name, token]) => [name, tokenText(token)] as const).filter(([, text]) => text !== ''),
    ),
    further: further.map(tokenText).filter((text) => text !== ''),
  };
}

const FLAGS = ['lstrip', 'rstrip', 'single_word', 'normalized'] as const;

/** How special tokens that are written as objects are found in texts, by their texts. */
export function specialFlags(config: Json): Map<string, Partial<AddedToken>> {
  const { additional_special_tokens: older, extra_special_tokens: further } = config;
  const lists = [older, further].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  const tokens = [...SPECIAL_TOKENS.map((name) => config[name]), ...lists];
  return new Map(
    tokens.map((token) => {
      const given = (typeof token === 'object' ? token : {}) as Json | null;
      const flags = FLAGS.filter((name) => typeof given?.[name] === 'boolean');
      return [tokenText(token), Object.fromEntries(flags.map((name) => [name, given![name]]))] as const;
    }),
  );
}

/** What a repository says of its tokenizer. */
export interface TokenizerFiles {
  json: TokenizerJson;
  /** tokenizer_config.json */
  config: Json;
  /** special_tokens_map.json */
  specialTokens?: Json | undefined;
  /** config.json of the model */
  model?: Json | undefined;
  /** True: the configuration's tokens are among those of `json` already. */
  complete?: boolean | undefined;
  /** True: lower case before all else, as sentence-transformers can ask for. */
  lowerCase?: boolean | undefined;
}
