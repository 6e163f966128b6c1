import type { Browser, Page } from 'playwright-core';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { zooModel } from '../parity/zoo.js';
import { barriers, describeWithBrowser, launch, watch } from './support/browser.js';
import { type PageServer, PLAYGROUND, servePage } from './support/page-server.js';

const KEY = 'open-sesame';

describeWithBrowser('the reference of the interface', () => {
  let browser: Browser;
  let server: PageServer;
  beforeAll(async () => {
    browser = await launch();
    server = await servePage(await zooModel('text-classification', 'distilbert'), { requiredKey: KEY });
  });
  afterAll(async () => {
    await browser.close();
    await closeServers();
    await server.close();
  });

  /** Fills in the form of an operation and sends it. */
  async function tryOut(page: Page, path: string): Promise<{ status: string; body: string }> {
    await page.click(`.opblock-summary-path[data-path="${path}"]`);
    await page.click('text=Try it out');
    await page.fill('textarea', '{"text": "A fine video"}');
    await page.click('button.execute');
    const row = '.live-responses-table tbody';
    return {
      status: (await page.innerText(`${row} .response-col_status`)).trim(),
      body: await page.innerText(`${row} .response-col_description`),
    };
  }

  test.each(['light', 'dark'] as const)(
    'of a server, in %s: a call is tried with a key',
    async (colorScheme) => {
      const page = await browser.newPage({ colorScheme });
      page.setDefaultTimeout(15_000);
      const faults = watch(page, server.address);
      await page.goto(`${server.address}docs`);
      await page.waitForSelector('.opblock-summary-path[data-path="/run"]');
      expect(await barriers(page)).toEqual([]);
      await page.click('button.authorize');
      await page.fill('.auth-container input', `Key ${KEY}`);
      expect(await barriers(page)).toEqual([]);
      await page.click('.auth-btn-wrapper .authorize');
      await page.click('.auth-btn-wrapper .btn-done');
      const answer = await tryOut(page, '/run');
      expect(answer.status).toMatch(/^200/);
      expect(answer.body).toContain('"score"');
      expect(await barriers(page)).toEqual([]);
      expect(faults).toEqual([]);
      await page.close();
    },
  );

  test('of a model behind a gateway: the key is asked for before anything is told', async () => {
    const base = await gateway({
      models: [
        { modelId: 'org/name', task: 'text-classification', addresses: [server.address.slice(0, -1)] },
      ],
      parts: { playground: PLAYGROUND },
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(`${base}/org/name/docs`);
    await page.waitForSelector('#key');
    expect(await barriers(page)).toEqual([]);
    await page.fill('#key', secret);
    await page.click('button.main');
    await page.waitForSelector('.opblock-summary-path[data-path="/"]');
    expect(await barriers(page)).toEqual([]);
    await page.close();
  });
});
