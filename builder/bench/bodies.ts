import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { BuilderError } from '../exit.js';

export interface BodyFlags {
  body?: readonly string[];
  bodies?: string;
}

const usage = (message: string, cause?: unknown) => new BuilderError('usage', message, { cause });

/**
 * The bodies that the caller has given, in the order in which they are sent; undefined for none.
 * @throws BuilderError `usage` that names the file, and the line
 */
export async function ownBodies({ body: files, bodies: lines }: BodyFlags): Promise<Buffer[] | undefined> {
  if (files !== undefined && lines !== undefined)
    throw usage('--body and --bodies: give one of them, or all bodies in one file');
  if (lines !== undefined) return bodiesIn(lines);
  return files && Promise.all(files.map((file) => readBody('--body', file)));
}

/** A body in each line that is not empty. */
async function bodiesIn(file: string): Promise<Buffer[]> {
  const content = (await readBody('--bodies', file)).toString('utf8');
  const bodies = content.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    try {
      JSON.parse(line);
    } catch (error) {
      throw usage(`--bodies ${file}:${i + 1}: is no JSON: give a body in each line`, error);
    }
    return [Buffer.from(line)];
  });
  if (bodies.length === 0) throw usage(`--bodies ${file} holds no body: give one in each line`);
  return bodies;
}

async function readBody(option: string, file: string): Promise<Buffer> {
  return readFile(path.resolve(file)).catch((error: NodeJS.ErrnoException) => {
    throw usage(
      `${option} ${file} can't be read (${error.code}): give a file with the request's body`,
      error,
    );
  });
}
