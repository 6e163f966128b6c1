import { RunError } from '../../core/errors.js';
import { bytesOfToken, decodeUtf8 } from './bytes.js';
import { cleanUp } from './clean-up.js';
import { tokenizersLibrary } from './library.js';
import { joinMarked } from './marked-pieces.js';
import { slowDecoder } from './sentencepiece/decode.js';
import type { Component } from './tokenizer-json.js';

/** Turns tokens into pieces of text, which are joined without anything between them. */
export type DecodeTokens = (tokens: string[]) => string[];

/**
 * The decoders of tokenizer.json as the Rust library computes them.
 * @throws RunError `not_ready` for a kind that we don't know
 */
export function createDecoder(config: Component | null | undefined): DecodeTokens {
  if (!config) return (tokens) => [tokens.join(' ')];
  const create = DECODERS[String(config.type)];
  if (!create) throw new RunError('not_ready', `tokenizer.json: decoder ${config.type} is not supported`);
  return create(config);
}

const DECODERS: Record<string, (config: Component) => DecodeTokens> = {
  Sequence(config) {
    const steps = (config['decoders'] as Component[]).map(createDecoder);
    return (tokens) => steps.reduce((value, step) => step(value), tokens);
  },
  ByteLevel: () => (tokens) => [decodeUtf8(tokens.flatMap(bytesOfToken))],
  WordPiece: wordPiece,
  Metaspace: metaspace,
  BPEDecoder(config) {
    const suffix = String(config['suffix'] ?? '</w>');
    return (tokens) => tokens.map((token, i) => token.replaceAll(suffix, i === tokens.length - 1 ? '' : ' '));
  },
  MarkedPieces: () => (tokens) => [joinMarked(tokens)],
  ByteFallback: () => byteFallback,
  Fuse: () => (tokens) => [tokens.join('')],
  SentencePiece: (config) => slowDecoder(config),
  Replace: (config) => fromLibrary(new tokenizersLibrary.ReplaceDecoder(config)),
  Strip: (config) => fromLibrary(new tokenizersLibrary.StripDecoder(config)),
  CTC: (config) => fromLibrary(new tokenizersLibrary.CTCDecoder(config)),
};

function fromLibrary(decoder: { decode_chain(tokens: string[]): string[] }): DecodeTokens {
  return (tokens) => decoder.decode_chain(tokens);
}

function wordPiece(config: Component): DecodeTokens {
  const prefix = String(config['prefix'] ?? '##');
  const tidy = config['cleanup'] === false ? (text: string) => text : cleanUp;
  return (tokens) =>
    tokens.map((token, i) => {
      if (i === 0) return tidy(token);
      return tidy(token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`);
    });
}

/** The sign is a blank, and nothing in the first token, whose blank was put there. */
function metaspace(config: Component): DecodeTokens {
  const sign = String(config['replacement'] ?? '▁');
  const put = config['prepend_scheme'] !== 'never' && config['add_prefix_space'] !== false;
  return (tokens) => tokens.map((token, i) => token.replaceAll(sign, i === 0 && put ? '' : ' '));
}

/** How a byte is written as a token. */
export const BYTE_TOKEN = /^<0x([0-9A-Fa-f]{2})>$/;

/** Tokens like <0x0A> are bytes. A run of them that is no UTF-8 gives one U+FFFD for each byte. */
function byteFallback(tokens: string[]): string[] {
  const out: string[] = [];
  let bytes: number[] = [];
  const flush = () => {
    if (bytes.length > 0) out.push(wholeUtf8(bytes) ?? '\ufffd'.repeat(bytes.length));
    bytes = [];
  };
  for (const token of tokens) {
    const byte = BYTE_TOKEN.exec(token)?.[1];
    if (byte !== undefined) bytes.push(Number.parseInt(byte, 16));
    else {
      flush();
      out.push(token);
    }
  }
  flush();
  return out;
}

const STRICT = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function wholeUtf8(bytes: number[]): string | undefined {
  try {
    return STRICT.decode(Uint8Array.from(bytes));
  } catch {
    return undefined;
  }
}
