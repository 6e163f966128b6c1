import { createHash } from 'node:crypto';
import type { Block } from './page.js';

const STYLE = `body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}
pre,code{font:14px/1.5 ui-monospace,monospace}
pre{padding:1rem;overflow:auto;border:1px solid #8886}
table{border-collapse:collapse;display:block;overflow:auto}
td,th{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;border-bottom:1px solid #8884}`;

/** Content-Security-Policy: the page loads nothing and runs nothing. */
export const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A complete HTML document without external resources. */
export function toHtml(title: string, blocks: readonly Block[]): string {
  const name = escape(title);
  return [
    '<!doctype html>',
    `<html lang="en"><head><meta charset="utf-8"><title>${name}</title>`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<style>${STYLE}</style></head><body><main><h1>${name}</h1>`,
    ...blocks.map(element),
    '</main></body></html>',
    '',
  ].join('\n');
}

function element(block: Block): string {
  if ('heading' in block) return `<h2>${inline(block.heading)}</h2>`;
  if ('text' in block) return `<p>${inline(block.text)}</p>`;
  if ('code' in block) return `<pre><code>${escape(block.code)}</code></pre>`;
  const row = (tag: string, cells: readonly string[]) =>
    `<tr>${cells.map((cell) => `<${tag}>${inline(cell)}</${tag}>`).join('')}</tr>`;
  return `<table>${[row('th', block.head), ...block.rows.map((cells) => row('td', cells))].join('\n')}</table>`;
}

const inline = (text: string) => escape(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escape = (text: string) => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!);
