import type { Component } from '../tokenizer-json.js';

/**
 * A post-processor as the Rust library writes it down: `$A` and `$B` are the texts, all else are tokens; `:1` behind
 * either is its segment.
 */
export function template(
  [single, pair]: readonly [single: string, pair: string],
  idOf: (token: string) => number,
): Component {
  const items = [single, pair].map((line) => line.split(' ').map(itemOf));
  const tokens = new Set(items.flat().flatMap(({ SpecialToken }) => (SpecialToken ? [SpecialToken.id] : [])));
  const rows = Array.from(tokens, (token) => [token, { id: token, ids: [idOf(token)], tokens: [token] }]);
  return {
    type: 'TemplateProcessing',
    ...{ single: items[0], pair: items[1] },
    special_tokens: Object.fromEntries(rows) as Record<string, unknown>,
  };
}

interface Item {
  SpecialToken?: { id: string; type_id: number };
  Sequence?: { id: string; type_id: number };
}

function itemOf(text: string): Item {
  const [, id = text, type = '0'] = /^(.+?)(?::(\d))?$/.exec(text) ?? [];
  return id.startsWith('$')
    ? { Sequence: { id: id.slice(1), type_id: Number(type) } }
    : { SpecialToken: { id, type_id: Number(type) } };
}

/** Tokens before and behind one text, and before and behind two with nothing between them. */
export function around(before: readonly string[], after: readonly string[]): [single: string, pair: string] {
  return [[...before, '$A', ...after].join(' '), [...before, '$A', '$B', ...after].join(' ')];
}
