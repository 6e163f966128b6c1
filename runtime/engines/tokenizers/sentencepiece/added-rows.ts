import type { Json } from '../../repository/model-folder.js';
import { type AddedToken, SPECIAL_TOKENS, tokenText } from '../tokenizer-json.js';
import { PIECE, type Piece } from './model-file.js';

export type TokenFlags = Partial<Pick<AddedToken, 'lstrip' | 'rstrip' | 'normalized' | 'single_word'>>;

export interface AddedRowsRequest {
  /** The pieces of the model file. */
  pieces: readonly Piece[];
  /** Pieces that are special beside the control symbols. */
  specialPieces: ReadonlySet<string>;
  /** Ids of the tokens of tokenizer.json. */
  ids: ReadonlyMap<string, number>;
  /** tokenizer_config.json, with the class's own defaults. */
  settings: Json;
  /** The same without the defaults. */
  written: Json;
  /** added_tokens.json, of repositories of the older kind. */
  addedTokens: Json | undefined;
  /** How the class marks special tokens that are written as plain strings, by their names. */
  flags: Readonly<Record<string, TokenFlags>>;
  /** The further special tokens, as the class has them. */
  further: readonly unknown[];
}

type NewToken = TokenFlags & { content: string; special: boolean };

/** A token of the list, and where it is looked for: in the text as it came, in the normalised one, or in both. */
interface Entry {
  token: AddedToken;
  /** `normalized` of the versions that are looked for. */
  looked: Set<boolean>;
  /** A special version was there. */
  special: boolean;
}

/**
 * The added tokens, as transformers adds them to a tokenizer that it has converted: symbols of the model file, then
 * tokens of the configuration, then the special ones. A later version of a token replaces the one before; but where the
 * token is looked for goes by all versions up to the first special one, as in the Rust library. So a token may have two
 * rows, which differ in `normalized` alone.
 */
export function addedRows(request: AddedRowsRequest): AddedToken[] {
  const { ids } = request;
  const entries = new Map<string, Entry>();
  let largest = -1;
  const add = ({ content, special, ...flags }: NewToken) => {
    const known = entries.get(content);
    const id = known?.token.id ?? ids.get(content) ?? Math.max(largest + 1, ids.size);
    largest = Math.max(largest, id);
    const plain = { single_word: false, lstrip: false, rstrip: false, normalized: !special };
    const token = { id, content, ...plain, ...flags, special };
    const looked = known?.looked ?? new Set();
    if (!known?.special) looked.add(token.normalized);
    entries.set(content, { token, looked, special: special || known?.special === true });
  };
  for (const symbol of symbolsOf(request)) add(symbol);
  const { named, further } = specialsOf(request);
  const texts = new Set([...named, ...further].map(tokenText));
  for (const token of listedTokens(request))
    add({ ...token, special: token.special || texts.has(token.content) });
  for (const token of [...named, ...further]) {
    if (typeof token !== 'string') add({ ...flagsOf(token), content: tokenText(token), special: true });
    else if (token !== '' && !entries.has(token)) add({ content: token, special: true });
  }
  return [...entries.values()]
    .sort((a, b) => a.token.id - b.token.id)
    .flatMap(({ token, looked, special }) =>
      Array.from(looked, (normalized) => ({ ...token, normalized, special })),
    );
}

/** Control symbols and symbols of the trainer's user. */
function symbolsOf({ pieces, specialPieces }: AddedRowsRequest): NewToken[] {
  return pieces
    .filter(({ type }) => type === PIECE.control || type === PIECE.user)
    .map(({ text, type }) => ({
      content: text,
      special: type === PIECE.control || specialPieces.has(text),
      normalized: false,
    }));
}

/** What the configuration adds, in the order of the ids. */
function listedTokens({ settings, written, addedTokens }: AddedRowsRequest): NewToken[] {
  const listed = settings['added_tokens_decoder'] as Record<string, Json> | undefined;
  if (listed === undefined) {
    return Object.entries(addedTokens ?? {})
      .sort(([, a], [, b]) => Number(a) - Number(b))
      .map(([content]) => ({
        content,
        special: isNamed(written, content),
        normalized: !isNamed(written, content),
      }));
  }
  return Object.entries(listed)
    .sort(([a], [b]) => Number(a) - Number(b))
    .map(([, token]) => ({
      ...flagsOf(token),
      content: tokenText(token),
      special: token['special'] === true,
    }));
}

/** A special token by what the repository itself says. */
function isNamed(written: Json, content: string): boolean {
  const further = (written['additional_special_tokens'] ?? []) as unknown[];
  return [...SPECIAL_TOKENS.map((name) => written[name]), ...further].some(
    (token) => tokenText(token) === content,
  );
}

/** Special tokens: strings, or objects where their flags are known. */
function specialsOf({ settings, flags, further }: AddedRowsRequest): {
  named: unknown[];
  further: unknown[];
} {
  const known = new Map(
    Object.values((settings['added_tokens_decoder'] ?? {}) as Record<string, Json>).map((token) => [
      tokenText(token),
      token,
    ]),
  );
  const named = SPECIAL_TOKENS.map((name) => [name, settings[name]] as const)
    .filter(([, token]) => tokenText(token) !== '')
    .map(([name, token]) => {
      const listed = known.get(tokenText(token));
      if (listed) return listed;
      const own = flags[name];
      return typeof token === 'string' && own ? { ...own, content: token } : token;
    });
  const seen = new Set(named.map(tokenText));
  return { named, further: further.filter((token) => !seen.has(tokenText(token))) };
}

function flagsOf(token: unknown): TokenFlags {
  const { lstrip, rstrip, normalized, single_word, special } = token as TokenFlags & { special?: boolean };
  return {
    lstrip: lstrip === true,
    rstrip: rstrip === true,
    single_word: single_word === true,
    normalized: normalized ?? special !== true,
  };
}
