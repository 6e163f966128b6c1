import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const EXECUTABLE = process.env.CHROMIUM ?? '/usr/bin/chromium';

const REQUIRED = process.env.REQUIRE_BROWSER === '1';

/** A suite that needs Chromium and the built page: without one it is skipped with the reason, in CI it fails. */
export function describeWithBrowser(name: string, body: () => void): void {
  const lacks = [
    ...(existsSync(EXECUTABLE) ? [] : ['no Chromium: run "scripts/chromium.sh"']),
    ...(existsSync('dist/image/playground/page.js.gz') ? [] : ['nothing is built: run "npm run build"']),
  ];
  if (lacks.length === 0) return describe(name, body);
  if (!REQUIRED) {
    process.stderr.write(`skipped: ${name}: ${lacks.join(', ')}\n`);
    // oxlint-disable-next-line jest/no-disabled-tests, jest/valid-describe-callback -- the reason has been printed, and CI does not come here
    return describe.skip(name, body);
  }
  describe(name, () => {
    test('needs what it lacks here', () => {
      throw new Error(lacks.join(', '));
    });
  });
}

export const launch = (): Promise<Browser> =>
  chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** What no page of ours may do: say something on the console, fail, or ask another server. */
export function watch(page: Page, address: string): string[] {
  const faults: string[] = [];
  page.on('console', (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => faults.push(`error: ${error.message}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(address) && !/^(?:data|blob):/.test(request.url()))
      faults.push(`foreign request: ${request.url()}`);
  });
  return faults;
}

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What is hard to use for people with other means than a mouse and a screen, by axe: serious and worse. */
export async function barriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const found = await page.evaluate(
    'axe.run().then(({ violations }) => violations.filter(({ impact }) => impact === "serious" || impact === "critical").flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`)))',
  );
  return found as string[];
}
