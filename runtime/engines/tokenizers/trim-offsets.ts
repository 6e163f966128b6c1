import type { Component } from './tokenizer-json.js';

/** A post-processor that takes blanks at the ends of tokens out of their offsets. */
export interface OffsetTrim {
  /** The first token's blank was put there by the pre-tokenizer, so it has no place in the text to be taken out. */
  addsPrefixSpace: boolean;
}

export function trimsOf(config: Component | null | undefined): OffsetTrim[] {
  if (config?.type === 'Sequence') return (config['processors'] as Component[]).flatMap(trimsOf);
  if (config?.type !== 'ByteLevel' && config?.type !== 'RobertaProcessing') return [];
  return config['trim_offsets'] === false ? [] : [{ addsPrefixSpace: config['add_prefix_space'] !== false }];
}

/** Stretches of tokens in a row, and what the tokens look like. */
interface Offsets {
  starts: readonly number[];
  ends: readonly number[];
  looks: readonly string[];
}

/** The byte-level sign for a blank, or a blank. */
const LEADING = /^[\u0120\p{White_Space}]+/u;
const BLANK = /[\u0120\p{White_Space}]/u;

/** As the Rust library's `process_offsets`. */
export function trimOffsets({ starts, ends, looks }: Offsets, { addsPrefixSpace }: OffsetTrim): Offsets {
  const [from, to] = [[...starts], [...ends]];
  looks.forEach((look, i) => {
    let leading = LEADING.exec(look)?.[0].length ?? 0;
    const trailing = trailingBlanks(look);
    const isFirst = i === 0 || from[i] === 0;
    if (isFirst && addsPrefixSpace && leading === 1) leading = 0;
    if (leading > 0) from[i] = Math.min(from[i]! + leading, to[i]!);
    if (trailing > 0 && to[i]! >= trailing) to[i] = Math.max(to[i]! - trailing, from[i]!);
  });
  return { starts: from, ends: to, looks };
}

function trailingBlanks(look: string): number {
  let end = look.length;
  while (end > 0 && BLANK.test(look[end - 1]!)) end--;
  return look.length - end;
}
