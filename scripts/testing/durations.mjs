/** How many files the table names. */
const SLOWEST = 15;

const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`.padStart(9);

/**
 * What a run of suites took. Times are milliseconds of the wall clock; files that run side by side make the sum of a
 * suite's files larger than its own time.
 */
export function createDurations() {
  const suites = [];
  const files = [];
  return {
    /**
     * @param {string} suite name in the table
     * @param {number} ms from its start to its end
     * @param {{ name: string, startTime: number, endTime: number }[]} results `testResults` of jest's JSON report
     */
    add(suite, ms, results = []) {
      const found = results.map(({ name, startTime, endTime }) => ({ suite, name, ms: endTime - startTime }));
      files.push(...found);
      suites.push({ suite, ms, count: found.length, sum: found.reduce((sum, file) => sum + file.ms, 0) });
    },
    /** @param {string} root folder that files are named from; ends in a slash */
    table(root) {
      const bySuite = suites.map(
        ({ suite, ms, count, sum }) =>
          `${seconds(ms)}  ${suite}${count ? ` (${count} files, ${seconds(sum).trim()} in sum)` : ''}`,
      );
      const slowest = files
        .toSorted((a, b) => b.ms - a.ms)
        .slice(0, SLOWEST)
        .map(({ suite, name, ms }) => `${seconds(ms)}  ${name.replace(root, '')} (${suite})`);
      return ['Suites:', ...bySuite, ...(slowest.length > 0 ? ['Slowest files:', ...slowest] : [])].join(
        '\n',
      );
    },
  };
}
