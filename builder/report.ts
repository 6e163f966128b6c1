import { Listr, ListrLogger, ProcessOutput } from 'listr2';

/** Output of commands: results on stdout, everything else on stderr. */
export interface Report {
  /** The command's result: one text, or with --json one JSON document. */
  result(text: string, json: unknown): void;
  /** One line for the operator. */
  note(text: string): void;
  /** Announces a step, runs it, and prints how long it took. `showDetail` replaces the step's current detail. */
  step<T>(title: string, run: (showDetail: (detail: string) => void) => Promise<T>): Promise<T>;
}

export interface ReportOptions {
  json: boolean;
  quiet: boolean;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

export function createReport(options: ReportOptions): Report {
  const { json, quiet, stdout, stderr } = options;
  const note = (text: string) => void (quiet || stderr.write(`${text}\n`));
  return {
    result: (text, document) =>
      void stdout.write(json ? `${JSON.stringify(document, null, 2)}\n` : `${text}\n`),
    note,
    step: (title, run) => {
      if (quiet) return run(() => undefined);
      return stderr.isTTY ? spinnerStep(options, title, run) : plainStep(note, title, run);
    },
  };
}

async function spinnerStep<T>(
  { stderr }: ReportOptions,
  title: string,
  run: (showDetail: (detail: string) => void) => Promise<T>,
): Promise<T> {
  let value: T;
  // By default the library writes to stdout, which is for results.
  const logger = new ListrLogger({ processOutput: new ProcessOutput(stderr, stderr) });
  const tasks = new Listr(
    [{ title, task: async (_, task) => void (value = await run((detail) => void (task.output = detail))) }],
    { rendererOptions: { logger, showErrorMessage: false }, registerSignalListeners: false },
  );
  await tasks.run();
  return value!;
}

const DETAIL_EVERY_MS = 2000;

/** For pipes and CI logs: a line at the start and the end, and details at most every two seconds. */
async function plainStep<T>(
  note: (text: string) => void,
  title: string,
  run: (showDetail: (detail: string) => void) => Promise<T>,
): Promise<T> {
  const started = performance.now();
  let last = started;
  note(`${title} …`);
  const value = await run((detail) => {
    if (performance.now() - last < DETAIL_EVERY_MS) return;
    last = performance.now();
    note(`  ${detail}`);
  });
  note(`${title}: done in ${((performance.now() - started) / 1000).toFixed(1)} s`);
  return value;
}

/** Bytes as text, e.g. `1.4 GB`. */
export function megabytes(bytes: number): string {
  if (bytes < 1e6) return `${(bytes / 1e3).toFixed(1)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(2)} GB`;
}

/** A command's result for one platform: the text, and the document for `--json`. */
export interface CommandResult {
  text: string;
  document: unknown;
}

/** A single result is unchanged; several become lines, and a list under `images`. */
export function combineResults(results: readonly CommandResult[]): [text: string, document: unknown] {
  const documents = results.map(({ document }) => document);
  return [
    results.map(({ text }) => text).join('\n'),
    results.length === 1 ? documents[0] : { images: documents },
  ];
}
