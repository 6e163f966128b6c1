import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { benchHtml } from '../../builder/bench/report-html.js';
import { summarise } from '../../builder/bench/statistics.js';
import { barriers, describeWithBrowser, launch, watch } from './support/browser.js';

const outcomes = Array.from({ length: 200 }, (_, i) => ({
  ...{ due: i * 10, sent: i * 10, ended: i * 10 + 20 + (i % 7), first: i * 10 + 5, tokens: 20 },
  ...{ status: '200', ok: true },
}));
const run = { outcomes, answered: 200, seconds: 2, from: 0 };
const loads = [{ concurrency: 1 }, { concurrency: 4 }, { rate: 100 }];
const steps = loads.map((load) => summarise(load, [run], 123e6));

/** What a server, an image or a command line may be called. */
const HOSTILE = '<img src=x onerror="alert(1)">\'"&</title><script>alert(2)</script>';

describeWithBrowser('the report of builder bench', () => {
  test.each(['light', 'dark'] as const)(
    'opens from a file in %s, with plots and without a message',
    async (scheme) => {
      const browser = await launch();
      try {
        const page = await browser.newPage({ colorScheme: scheme, viewport: { width: 360, height: 800 } });
        const said = watch(page, 'file:');
        const file = path.join(await mkdtemp(path.join(tmpdir(), 'slipway-report-')), 'report.html');
        const targets = [HOSTILE, 'slipway/org_model:latest'].map((target) => ({
          target,
          coldStartMs: 1234,
          bodies: 1,
          steps,
        }));
        const ratio = { median: 1, low: 0.9, high: 1.1 };
        const comparisons = loads.map((load) => ({ load, requestsPerSecond: ratio, p50: null }));
        const about = { command: HOSTILE, version: '1', when: new Date(0), machine: HOSTILE };
        await writeFile(file, benchHtml({ targets, comparisons }, about));
        await page.goto(pathToFileURL(file).href);
        expect(await page.innerText('h1')).toBe(`${HOSTILE} and slipway/org_model:latest`);
        expect(await page.locator('svg').count()).toBe(3);
        expect(await page.locator('svg path.line').count()).toBe(6);
        expect(await page.locator('tbody tr').count()).toBe(9);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
        expect(await barriers(page)).toEqual([]);
        expect(said).toEqual([]);
      } finally {
        await browser.close();
      }
    },
  );
});
