import { type FileHandle, open } from 'node:fs/promises';
import { GatewayError } from '../errors.js';

/** One line of the audit log. Never a key, a body or a header. */
export interface AuditEvent {
  event: string;
  [fact: string]: string | number | undefined;
}

export interface AuditLog {
  /** Returns at once. */
  write(event: AuditEvent): void;
  /** Opens the file again after it was rotated. */
  reopen(): Promise<void>;
  close(): Promise<void>;
}

/** Lines that may wait for the disk; more are dropped and counted. */
const MAX_WAITING = 1000;

/**
 * Appends JSON lines with a timestamp to a file that only its owner may read. When the disk is full, lines are lost but
 * no call fails; the next line that is written says how many were lost.
 * @throws GatewayError when the file can't be opened
 */
export async function openAuditLog(file: string, log: (line: string) => void): Promise<AuditLog> {
  const openFile = () => open(file, 'a', 0o600);
  let handle: FileHandle = await openFile().catch((error: NodeJS.ErrnoException) => {
    throw new GatewayError(`the audit log ${file} can't be opened (${error.code}); give another --audit`);
  });
  let waiting: string[] = [];
  let lost = 0;

  function dropLines(lines: number, why: string): void {
    if (lost === 0) log(`lines of the audit log are lost: ${why}`);
    lost += lines;
  }

  async function flush(): Promise<void> {
    const lines = waiting;
    waiting = [];
    if (lines.length === 0) return;
    const missing = lost;
    const notice = missing > 0 ? lineOf({ event: 'lines-lost', lines: missing }) : '';
    try {
      await handle.appendFile(notice + lines.join(''));
      lost -= missing;
    } catch (error) {
      dropLines(lines.length, String((error as NodeJS.ErrnoException).code));
    }
  }

  let tail = Promise.resolve();
  const enqueue = (step: () => Promise<void>) => (tail = tail.then(step));
  return {
    write(event) {
      if (waiting.length >= MAX_WAITING) dropLines(1, 'the disk is too slow');
      else if (waiting.push(lineOf(event)) === 1) void enqueue(flush);
    },
    reopen: () =>
      enqueue(async () => {
        try {
          const fresh = await openFile();
          await handle.close();
          handle = fresh;
        } catch (error) {
          log(`the audit log stays where it was: ${(error as NodeJS.ErrnoException).code}`);
        }
      }),
    async close() {
      await enqueue(flush);
      await handle.close();
    },
  };
}

function lineOf(event: AuditEvent): string {
  return `${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`;
}
