import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface OwnPackage {
  folder: string;
  version: string;
}

/** The nearest package.json above a folder of this program: of the checkout, or of the installed package. */
export function ownPackage(from: string): OwnPackage {
  const file = path.join(from, 'package.json');
  if (!existsSync(file)) return ownPackage(path.dirname(from));
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return { folder: from, version };
}
