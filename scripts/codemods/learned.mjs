/**
 * The field writes "learned": renames identifiers, files and words of comments. Run from the repository root, then `make docs`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';

const files = execFileSync('git', ['grep', '-lI', 'learnt', '--', 'runtime', 'builder', 'gateway'], {
  encoding: 'utf8',
});
for (const file of files.split('\n').filter((name) => name.endsWith('.ts'))) {
  writeFileSync(file, readFileSync(file, 'utf8').replaceAll('learnt', 'learned'));
  if (file.includes('learnt')) renameSync(file, file.replace('learnt', 'learned'));
}
