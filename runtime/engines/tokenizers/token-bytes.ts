import { bytesOfToken } from './bytes.js';
import { BYTE_TOKEN } from './decoders.js';
import type { Component } from './tokenizer-json.js';

/** Bytes of one token by itself, as the decoder of tokenizer.json reads it in the middle of a text. */
export function tokenBytes(decoder: Component | null | undefined, token: string): number[] {
  const steps = stepsOf(decoder);
  const has = (type: string) => steps.some((step) => step.type === type);
  if (has('ByteLevel')) return bytesOfToken(token);
  const byte = has('ByteFallback') ? BYTE_TOKEN.exec(token)?.[1] : undefined;
  if (byte !== undefined) return [Number.parseInt(byte, 16)];
  return [...new TextEncoder().encode(steps.reduce(inText, token))];
}

function stepsOf(decoder: Component | null | undefined): Component[] {
  if (!decoder) return [];
  return decoder.type === 'Sequence' ? (decoder['decoders'] as Component[]).flatMap(stepsOf) : [decoder];
}

function inText(token: string, step: Component): string {
  if (step.type === 'Metaspace') return token.replaceAll(String(step['replacement'] ?? '▁'), ' ');
  if (step.type === 'BPEDecoder') return token.replaceAll(String(step['suffix'] ?? '</w>'), ' ');
  if (step.type === 'WordPiece') {
    const prefix = String(step['prefix'] ?? '##');
    return token.startsWith(prefix) ? token.slice(prefix.length) : ` ${token}`;
  }
  const { String: from } = (step['pattern'] ?? {}) as { String?: string };
  return step.type === 'Replace' && from !== undefined
    ? token.replaceAll(from, String(step['content']))
    : token;
}
