import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { syncFolder } from '../../runtime/store/sync-folder.js';
import { GatewayError } from '../errors.js';
import { createSums, parseRow, type UsageRow, type UsageSums } from './row.js';

/**
 * Sums up a usage file: JSON lines, each an amount to add. Incomplete lines, left by a killed process, are ignored. A
 * missing file is empty.
 * @throws GatewayError that names the file
 */
export async function readUsage(
  file: string,
  wanted: (row: UsageRow) => boolean = () => true,
): Promise<UsageSums> {
  const sums = createSums();
  if (!existsSync(file)) return sums;
  try {
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const row = parseRow(line);
      if (row && wanted(row)) sums.add(row);
    }
  } catch (error) {
    throw new GatewayError(`the usage in ${file} can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
  return sums;
}

export function formatRows(rows: readonly UsageRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/**
 * Replaces the file by its sums atomically.
 * @returns the new file, open for appending
 */
export async function rewriteUsage(
  file: string,
  sums: UsageSums,
): Promise<{ handle: FileHandle; size: number }> {
  const temporary = `${file}.tmp`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, 'a', 0o600);
  try {
    const rows = sums.rows();
    for (let i = 0; i < rows.length; i += 1000) await handle.appendFile(formatRows(rows.slice(i, i + 1000)));
    await handle.sync();
    await rename(temporary, file);
    await syncFolder(path.dirname(file));
    return { handle, size: (await handle.stat()).size };
  } catch (error) {
    await handle.close();
    throw error;
  }
}
