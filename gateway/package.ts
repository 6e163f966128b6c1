import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The nearest folder above this file that has a package.json: the checkout or the installed package. */
export const PACKAGE = above(import.meta.dirname);

/** Of this program. */
export const VERSION = (
  JSON.parse(readFileSync(path.join(PACKAGE, 'package.json'), 'utf8')) as { version: string }
).version;

function above(folder: string): string {
  return existsSync(path.join(folder, 'package.json')) ? folder : above(path.dirname(folder));
}
