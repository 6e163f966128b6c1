import { parse } from 'yaml';
import type { ModelInfo } from '../core/spec.js';

/** Reads the YAML block at the top of a README.md. Values of a wrong type are ignored. */
export function modelCard(
  readme: string,
): Pick<ModelInfo, 'pipelineTag' | 'libraryName' | 'license' | 'tags'> {
  const block = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/.exec(readme)?.[1];
  const card = block === undefined ? {} : parseBlock(block);
  const text = (name: string) => (typeof card[name] === 'string' ? card[name] : undefined);
  const tags = Array.isArray(card.tags)
    ? card.tags.filter((tag): tag is string => typeof tag === 'string')
    : [];
  return {
    pipelineTag: text('pipeline_tag'),
    libraryName: text('library_name'),
    license: text('license'),
    tags,
  };
}

function parseBlock(block: string): Record<string, unknown> {
  try {
    const value: unknown = parse(block, { logLevel: 'silent', maxAliasCount: 20 });
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
