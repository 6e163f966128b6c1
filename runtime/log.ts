import { styleText } from 'node:util';
import { pino, type Logger } from 'pino';
import { createOutbox, type Outbox } from './core/outbox.js';

export type { Logger };

/**
 * JSON lines for machines, or plain lines for a person at a terminal. Request bodies, keys and tokens are never given
 * to it; the redaction is the second lock on that door.
 */
export function createLogger(format: 'json' | 'text', level: string): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ['key', 'token', 'authorization', '*.authorization', '*.key', '*.token'],
  };
  return pino(options, { write: format === 'json' ? writeJson : writeText });
}

/** One system call for the lines of one turn of the event loop; none is lost when the process exits. */
const writeJson = (() => {
  let outbox: Outbox<string> | undefined;
  const open = () => {
    const stdout = pino.destination({ dest: 1, sync: true });
    const opened = createOutbox<string>((lines) => void stdout.write(lines.join('')));
    process.on('exit', opened.flush);
    return opened;
  };
  return (line: string) => (outbox ??= open()).put(line);
})();

function writeText(line: string): void {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const extras = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const clock = String(time).slice(11, 19);
  const text = [clock, level === 'info' ? '' : String(level).toUpperCase(), msg, ...extras]
    .filter(Boolean)
    .join(' ');
  process.stderr.write(`${level === 'error' ? styleText('red', text) : text}\n`);
}
