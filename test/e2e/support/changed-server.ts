import { appendFile, cp, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { type Finished, run } from './process.js';

/** The command line of a checkout whose server differs from ours in one comment; everything else is the same. */
export async function changedServer(folder: string): Promise<(args: string[]) => Promise<Finished>> {
  const root = path.join(folder, 'changed');
  await mkdir(root);
  for (const part of ['package.json', 'npm-shrinkwrap.json', 'templates', 'dist'])
    await cp(part, path.join(root, part), { recursive: true });
  await symlink(path.resolve('node_modules'), path.join(root, 'node_modules'));
  await appendFile(path.join(root, 'dist/image/main.mjs'), '// changed\n');
  return (args) => run(process.execPath, [path.join(root, 'dist/builder/main.js'), ...args]);
}
