import { readFileSync } from 'node:fs';
import { createDurations } from './durations.mjs';

/** What all suites of a run have come to. A step is one test: what a tool checks, or what is missing. */
export function createResults() {
  const total = { passed: 0, failed: 0, skipped: 0 };
  const durations = createDurations();
  const fail = (message) => {
    total.failed++;
    console.log(`FAILED: ${message}`);
  };
  return {
    fail,
    /** @param {{ name: string, passed: boolean, ms: number }} step */
    addStep({ name, passed, ms }) {
      total[passed ? 'passed' : 'failed']++;
      durations.add(name, ms);
      console.log(`${passed ? 'ok' : 'FAILED'}: ${name} (${(ms / 1000).toFixed(1)} s)`);
    },
    /** What is not run here, with the reason. */
    skip(reason) {
      total.skipped++;
      console.log(`skipped: ${reason}`);
    },
    /** @param {{ name: string, rows: { name: string, problem: string | null }[], ms: number }} run each row is a test */
    addRows({ name, rows, ms }) {
      durations.add(name, ms);
      for (const { name: row, problem } of rows) {
        if (problem === null) total.passed++;
        else fail(`${row}: ${problem}`);
      }
    },
    /** @param {{ name: string, file: string, status: number | null, ms: number }} run of jest with its report in a file */
    addSuite({ name, file, status, ms }) {
      const report = readReport(file);
      durations.add(name, ms, report?.testResults);
      // Jest ended before it could report: that is a failure of its own.
      if (!report) return fail(`${name} ended with status ${status} and no report`);
      total.passed += report.numPassedTests;
      total.skipped += report.numPendingTests + report.numTodoTests;
      // A suite that can't be loaded has no tests to count.
      total.failed += report.numFailedTests + report.numRuntimeErrorTestSuites;
      if (report.numTotalTests === 0) total.failed++;
    },
    /** Ends the run: the table, and the line that others read. */
    finish(root) {
      console.log(durations.table(root));
      console.log(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
      return total.failed === 0;
    },
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}
