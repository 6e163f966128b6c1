import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Option } from 'commander';
import { type Document, isMap, isNode, LineCounter, parseDocument } from 'yaml';
import type * as z from 'zod';
import { BuilderError } from '../exit.js';
import { buildFileSchema, type FileModel, type OptionValues } from './schema.js';

/** Read where no model is named. */
export const BUILD_FILE = 'slipway.yaml';

const usage = (message: string, cause?: unknown) => new BuilderError('usage', message, { cause });

export interface BuildFileOptions {
  /** Those that the file may set, by their long names. */
  options: readonly Option[];
  /** What holds where the file says nothing. */
  defaults: OptionValues;
  /** What holds whatever the file says. */
  given: OptionValues;
}

/**
 * The models of a build file in its order, each with all values of the options.
 * @throws BuilderError `usage` that names file and line of everything that is wrong
 */
export async function readBuildFile(file: string, options: BuildFileOptions): Promise<FileModel[]> {
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw usage(`${file}: can't be read (${error.code ?? error.message})`, error);
  });
  return parseBuildFile(content, { file, ...options });
}

export function parseBuildFile(
  content: string,
  { file, options, defaults, given }: BuildFileOptions & { file: string },
): FileModel[] {
  const lines = new LineCounter();
  const document = parseDocument(content, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
  const [broken] = document.errors;
  if (broken) throw usage(`${at(broken.pos[0])}: ${broken.message}`);
  const schema = buildFileSchema({ options, folder: path.dirname(path.resolve(file)) });
  const parsed = schema.safeParse(valuesOf(document, file));
  if (!parsed.success) {
    const found = parsed.error.issues.map((issue) => lineOf(issue, document, at));
    throw usage(found.join('\n'));
  }
  const complete = parsed.data.models.map(({ id, values }) => ({
    id,
    values: { ...defaults, ...parsed.data.defaults, ...values, ...given },
  }));
  requireOwnNames(complete, (i) => at(offsetOf(document, ['models', i])));
  return complete;
}

/** Aliases are counted when they are resolved, so that a small file can't become a large one. */
function valuesOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    throw usage(`${file}: ${(error as Error).message}`, error);
  }
}

/** Two entries of one name would be one image, whose tags the later one takes. */
function requireOwnNames(models: readonly FileModel[], place: (i: number) => string): void {
  const seen = new Map<string, number>();
  for (const [i, { id, values }] of models.entries()) {
    const name = `${String(values['namespace'])}/${id.replace('/', '_')}`.toLowerCase();
    const before = seen.get(name);
    if (before !== undefined)
      throw usage(
        `${place(i)}: models[${i}]: models[${before}] has this name too, and both would be one image: give one of them another namespace`,
      );
    seen.set(name, i);
  }
}

type Path = readonly PropertyKey[];

/** One issue: file and line, the field, and what is wrong with it. */
function lineOf(issue: z.core.$ZodIssue, document: Document, at: (offset: number) => string): string {
  if (issue.code !== 'unrecognized_keys')
    return `${at(offsetOf(document, issue.path))}: ${fieldOf(issue.path)}${issue.message}`;
  const unknown = issue.keys.map((key) => {
    const field = fieldOf([...issue.path, key]);
    return `${at(keyOffset(document, issue.path, key))}: ${field}there is no such key`;
  });
  return unknown.join('\n');
}

function fieldOf(field: Path): string {
  const parts = field.map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
  return parts.length === 0 ? '' : `${parts.join('').replace(/^\./, '')}: `;
}

/** Where a field begins, or what should hold it. */
function offsetOf(document: Document, field: Path): number {
  for (let length = field.length; length > 0; length--) {
    const found = document.getIn(field.slice(0, length), true);
    if (isNode(found) && found.range) return found.range[0];
  }
  return document.contents?.range?.[0] ?? 0;
}

function keyOffset(document: Document, field: Path, key: string): number {
  const map = field.length === 0 ? document.contents : document.getIn(field, true);
  const pair = isMap(map) ? map.items.find((item) => String(item.key) === key) : undefined;
  return isNode(pair?.key) && pair.key.range ? pair.key.range[0] : offsetOf(document, field);
}
