import { Listr, ListrLogger, ProcessOutput } from 'listr2';
import pLimit from 'p-limit';
import { createReport, type Report, type ReportOptions } from './report.js';

/** Work with steps of its own. */
export interface Job<T> {
  /** Begins each line about it. */
  name: string;
  /** @param report of this job: its steps are shown on the job's own line */
  run(report: Report): Promise<T>;
}

/** More downloads at a time share the same line. */
const AT_A_TIME = 4;

/** Runs jobs side by side under one display. A job that fails leaves the others alone. */
export function runTogether<T>(
  jobs: readonly Job<T>[],
  options: ReportOptions,
): Promise<PromiseSettledResult<T>[]> {
  return options.stderr.isTTY && !options.quiet ? onOneDisplay(jobs, options) : inLines(jobs, options);
}

/** For pipes and CI logs: every line begins with the job's name. */
function inLines<T>(jobs: readonly Job<T>[], options: ReportOptions): Promise<PromiseSettledResult<T>[]> {
  const limit = pLimit(AT_A_TIME);
  const report = createReport(options);
  return Promise.allSettled(
    jobs.map(({ name, run }) => limit(() => run(named(report, (line) => `${name}: ${line}`)))),
  );
}

const named = (report: Report, withName: (line: string) => string): Report => ({
  result: report.result,
  note: (line) => report.note(withName(line)),
  step: (title, run) =>
    report.step(withName(title), (showDetail) => run((detail) => showDetail(withName(detail)))),
});

async function onOneDisplay<T>(
  jobs: readonly Job<T>[],
  options: ReportOptions,
): Promise<PromiseSettledResult<T>[]> {
  const { stderr } = options;
  const report = createReport(options);
  const outcomes: PromiseSettledResult<T>[] = [];
  // Notes between the lines of the display would break it.
  const notes: string[] = [];
  const logger = new ListrLogger({ processOutput: new ProcessOutput(stderr, stderr) });
  const tasks = new Listr(
    jobs.map(({ name, run }, i) => ({
      title: name,
      async task(_: unknown, task: { title: string | undefined; output: string | undefined }) {
        const running = run({
          result: report.result,
          note: (line) => void notes.push(`${name}: ${line}`),
          step(title, work) {
            task.title = `${name}: ${title}`;
            return work((detail) => void (task.output = detail));
          },
        });
        [outcomes[i]] = (await Promise.allSettled([running])) as [PromiseSettledResult<T>];
        // Marks the line as failed.
        await running;
      },
    })),
    {
      ...{ concurrent: AT_A_TIME, exitOnError: false, registerSignalListeners: false },
      rendererOptions: { logger, showErrorMessage: false },
      // Where stdout is a pipe, and stderr a terminal.
      fallbackRendererOptions: { logger },
    },
  );
  await tasks.run();
  for (const note of notes) report.note(note);
  return outcomes;
}
