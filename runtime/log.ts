import { styleText } from 'node:util';
import { pino, type Logger } from 'pino';
import { createOutbox, type Outbox } from './core/outbox.js';

export type { Logger };

/**
 * JSON lines, or plain lines for terminals. Callers never log request bodies, keys and tokens; the redaction is a second
 * safeguard.
 * @param jsonTo stderr for programs that print results on stdout; plain lines always go to stderr
 */
export function createLogger(
  format: 'json' | 'text',
  level: string,
  jsonTo: 'stdout' | 'stderr' = 'stdout',
): Logger {
  const options = {
    level,
    base: undefined,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: ['key', 'token', 'authorization', '*.authorization', '*.key', '*.token'],
  };
  return pino(options, { write: format === 'json' ? WRITE_JSON[jsonTo] : writeText });
}

/** Writes the lines of one turn of the event loop with one system call; none is lost when the process exits. */
function jsonWriter(dest: 1 | 2): (line: string) => void {
  let outbox: Outbox<string> | undefined;
  const open = () => {
    const stream = pino.destination({ dest, sync: true });
    const opened = createOutbox<string>((lines) => void stream.write(lines.join('')));
    process.on('exit', opened.flush);
    return opened;
  };
  return (line) => (outbox ??= open()).put(line);
}

const WRITE_JSON = { stdout: jsonWriter(1), stderr: jsonWriter(2) };

function writeText(line: string): void {
  const { time, level, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const extras = Object.entries(rest).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const clock = String(time).slice(11, 19);
  const text = [clock, level === 'info' ? '' : String(level).toUpperCase(), msg, ...extras]
    .filter(Boolean)
    .join(' ');
  process.stderr.write(`${level === 'error' ? styleText('red', text) : text}\n`);
}
