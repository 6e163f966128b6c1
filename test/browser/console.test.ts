import type { Browser, Page } from 'playwright-core';
import type { ConsoleState } from '../../gateway/console/state.js';
import { askConsole, CONSOLE_KEY, consoleGateway, type GivenConsole, signIn } from '../fakes/console.js';
import { closeServers, JSON_TYPE } from '../fakes/gateway.js';
import { barriers, describeWithBrowser, launch, watch } from './support/browser.js';

/** Texts that would do something where they were set as HTML. */
const CORPUS = [
  '<img src=x onerror=alert(1)>',
  '"><script>alert(1)</script>',
  '<svg/onload=alert(1)>',
  '</li></ul><iframe srcdoc="<script>parent.alert(1)</script>">',
  "javascript:alert('1')",
  '{{constructor.constructor("alert(1)")()}}',
  '\u202Eevil\u202C & &lt;b&gt;',
  '</title></textarea></style><script>alert(1)</script>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--><img src=x onerror=alert(1)>">',
  "' autofocus onfocus=alert(1) x='",
  '<a href="javascript:alert(1)">x</a><form action="//evil.example"><input name=x>',
  '<link rel=stylesheet href=//evil.example><meta http-equiv=refresh content="0;url=//evil.example">',
  '\u0000\u001b[31m\ufeff\u2028${alert(1)}`',
];

describeWithBrowser('the console', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await launch()));
  afterAll(() => browser.close());

  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    await closeServers();
  });

  async function open(given: GivenConsole = {}, view: Parameters<Browser['newPage']>[0] = {}) {
    const gateway = await consoleGateway(given);
    const page = await browser.newPage(view);
    page.setDefaultTimeout(8000);
    closing.push(() => page.close(), gateway.close);
    const faults = watch(page, gateway.address);
    await page.goto(gateway.address);
    await page.waitForSelector('#console-key');
    return { page, faults, ...gateway };
  }

  async function enter(page: Page) {
    await page.fill('#console-key', CONSOLE_KEY);
    await page.press('#console-key', 'Enter');
    await page.waitForSelector('text=live');
    await page.waitForSelector('#keys');
  }

  test('sign in, look at the models, warm one up, stop it, sign out', async () => {
    const playground = { url: null, port: 8080, path: '/models/v2' };
    const { page, faults, call } = await open({
      models: [{}, { modelId: 'org/second', task: 'chat' }],
      playground,
    });
    await enter(page);
    expect(await page.locator('.model strong').allInnerTexts()).toEqual(['org/second', 'org/name']);
    expect(await page.locator('.task h3').allInnerTexts()).toEqual(['chat', 'text-generation']);
    const first = page.locator('.model:has-text("org/name")');
    expect(await first.locator('.state').innerText()).toBe('cold');
    await page.click('[aria-label="Warm up org/name"]');
    await first.locator('.state.warm').waitFor();
    expect(await barriers(page)).toEqual([]);
    await (await call('org/name')).text();
    await page.waitForFunction(() => document.querySelector('#requests')?.textContent === '1');
    expect(await first.locator('a').getAttribute('href')).toBe('http://127.0.0.1:8080/models/v2/org/name/');
    await page.click('[aria-label="Stop org/name"]');
    await first.locator('.state.cold').waitFor();
    await page.fill('[type=search]', 'second');
    expect(await page.locator('.model').count()).toBe(1);
    await page.reload();
    await page.waitForSelector('.model');
    await page.click('text=Sign out');
    await page.waitForSelector('#console-key');
    expect(faults).toEqual([]);
  });

  test('links lead to the address that the operator gave', async () => {
    const { page } = await open({
      playground: { url: 'https://models.example/ai', port: 8080, path: '/models/v2' },
    });
    await enter(page);
    expect(await page.locator('.model a').getAttribute('href')).toBe(
      'https://models.example/ai/models/v2/org/name/',
    );
  });

  test('a key is made, shown once, used and revoked', async () => {
    const { page, faults, call } = await open();
    await enter(page);
    await page.fill('.new-key > input', 'the shop');
    await page.click('text=Create a key');
    const key = await page.innerText('.secret');
    expect(await barriers(page)).toEqual([]);
    expect((await call('org/name', key)).status).toBe(200);
    await page.click('text=Done');
    await page.click('[aria-label="Revoke the shop"]');
    expect(await barriers(page)).toEqual([]);
    await page.click('text=Revoke for good');
    await page.waitForFunction(() => document.querySelectorAll('.key').length === 1);
    expect((await call('org/name', key)).status).toBe(401);
    expect(await page.content()).not.toContain(key);
    expect(faults).toEqual([]);
  });

  test('a key gets limits of its own, and those of all again', async () => {
    const { page, faults, call } = await open();
    await enter(page);
    await page.fill('.new-key > input', 'the trial');
    await page.fill('.new-key label:has-text("calls") input', '1');
    await page.fill('.new-key label:has-text("in seconds") input', '3600');
    await page.click('text=Create a key');
    const key = await page.innerText('.secret');
    const row = page.locator('.key:has-text("the trial")');
    await row.locator('text=1 call in 1 h').waitFor();
    expect([(await call('org/name', key)).status, (await call('org/name', key)).status]).toEqual([200, 429]);
    await page.click('[aria-label="Limits of the trial"]');
    await row.locator('label:has-text("calls") input').fill('50');
    await row.locator('label:has-text("at once") input').fill('3');
    expect(await barriers(page)).toEqual([]);
    await row.locator('text=Set').click();
    await row.locator('text=50 calls in 1 h, 3 at once').waitFor();
    expect((await call('org/name', key)).status).toBe(200);
    await page.click('[aria-label="Limits of the trial"]');
    await row.locator('text=As for all keys').click();
    await row.locator('text=600 calls in 60 s').waitFor();
    expect(await row.locator('.badge').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('the usage of a key by model', async () => {
    const { page, faults, call } = await open({
      models: [{}, { modelId: 'org/second' }],
      container(incoming, response) {
        incoming.resume();
        const tokens = { 'inference-tokens-in': '1200', 'inference-tokens-out': '7' };
        response.writeHead(200, { 'Content-Type': JSON_TYPE, ...tokens });
        response.end('{"error":null,"output":"done"}');
      },
    });
    for (const id of ['org/name', 'org/second', 'org/name']) await (await call(id)).text();
    await enter(page);
    await page.click('[aria-label="Usage of test"]');
    const table = page.locator('[aria-label="Usage of test"] >> xpath=self::table');
    await page.waitForFunction(() => document.querySelectorAll('.usage tbody tr').length === 2);
    const rows = await table.locator('tbody tr').allInnerTexts();
    expect(rows.toSorted().map((row) => row.split('\t'))).toEqual([
      [
        'org/name',
        '2',
        expect.stringMatching(/ m?s$/),
        expect.stringMatching(/^(?:< )?\$0\.\d/),
        '2,400',
        '14',
      ],
      [
        'org/second',
        '1',
        expect.stringMatching(/ m?s$/),
        expect.stringMatching(/^(?:< )?\$0\.\d/),
        '1,200',
        '7',
      ],
    ]);
    await page.locator('.key >> text=3,600 tokens read, 21 written').waitFor();
    await page.locator('.model:has-text("org/name") >> text=2.4K in').waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('charts of one model', async () => {
    const { page, faults, call } = await open({ models: [{}, { modelId: 'org/second' }] });
    await (await call('org/name')).text();
    await enter(page);
    await page.click('[aria-label="Charts of org/second"]');
    await page.locator('text=Nothing to draw yet').waitFor();
    await page.waitForTimeout(200);
    await page.click('[aria-label="Charts of org/name"]');
    await page.waitForFunction(() => document.querySelectorAll('.charts svg').length === 4);
    expect(await page.locator('.charts svg').first().getAttribute('aria-label')).toMatch(/^requests, last/);
    expect(await barriers(page)).toEqual([]);
    expect(faults).toEqual([]);
  });

  test('a wrong key, and what fails, is told', async () => {
    const { page } = await open({ failures: { 'org/name': 'its file is damaged' } });
    await page.fill('#console-key', 'nonsense');
    await page.press('#console-key', 'Enter');
    await page.waitForSelector('text=this is not the key of the console');
    expect(await barriers(page)).toEqual([]);
    await enter(page);
    await page.click('[aria-label="Warm up org/name"]');
    await page.waitForSelector('.model .state.failed');
    expect(await page.locator('.model .error').first().innerText()).toBe('its file is damaged');
    await page.waitForSelector('.model [role=alert]');
    expect(await barriers(page)).toEqual([]);
    await page.click('text=Reload the catalogue');
    await page.waitForSelector('text=the catalogue of this gateway never changes');
  });

  test('names and errors are text, whatever is in them', async () => {
    const models = CORPUS.map((text) => ({ modelId: `org/${text.replaceAll('/', '∕')}` }));
    const failures = Object.fromEntries(models.map(({ modelId }, i) => [modelId, CORPUS[i]!]));
    const { page, faults, address } = await open({ models, failures, keyNames: CORPUS });
    const dialogs: string[] = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.message());
      void dialog.dismiss();
    });
    const cookie = await signIn(address);
    for (const { modelId } of models) {
      const path = `/api/models/${modelId.split('/').map(encodeURIComponent).join('/')}/warm`;
      expect((await askConsole(address, path, { method: 'POST' }, cookie)).status).toBe(503);
    }
    await enter(page);
    await page.waitForSelector('.key');
    await page.waitForSelector('.reason');
    const texts = async (selector: string) => (await page.locator(selector).allTextContents()).sort();
    expect(await texts('.model strong')).toEqual(models.map(({ modelId }) => modelId).sort());
    expect(await texts('.model > .error')).toEqual(CORPUS.toSorted());
    expect(await texts('.reason')).toEqual(CORPUS.toSorted());
    expect(await texts('.key strong')).toEqual(['test', ...CORPUS].sort());
    for (const button of await page.locator('.key button[aria-expanded]').all()) await button.click();
    const alien = 'iframe, img, body script, math, meta[http-equiv=refresh], [onerror], [onload], [onfocus]';
    expect(await page.locator(alien).count()).toBe(0);
    expect(await page.locator('form.limits').count()).toBe(CORPUS.length + 2);
    expect([dialogs, faults]).toEqual([[], []]);
  });

  test('the keyboard alone is enough', async () => {
    const { page, faults } = await open();
    await page.focus('#console-key');
    await page.keyboard.type(CONSOLE_KEY);
    await page.keyboard.press('Enter');
    await page.waitForSelector('.model');
    for (let presses = 0; presses < 20; presses++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(() => document.activeElement?.textContent === 'Warm up')) break;
    }
    await page.keyboard.press('Enter');
    await page.waitForSelector('.model .state.warm');
    expect(faults).toEqual([]);
  });

  test.each(['light', 'dark'] as const)('%s, on a narrow screen, with 40 models', async (colorScheme) => {
    const models = Array.from({ length: 40 }, (_, i) => ({
      modelId: `organisation/a-model-with-quite-a-long-name-${i}`,
      task: i % 2 ? ('chat' as const) : ('fill-mask' as const),
    }));
    const view = { colorScheme, viewport: { width: 360, height: 740 } };
    const { page, faults, address } = await open({ models }, view);
    expect(await barriers(page)).toEqual([]);
    await enter(page);
    await page.waitForSelector('.key');
    expect(await page.locator('.model').count()).toBe(40);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await barriers(page)).toEqual([]);
    const state = (await askConsole(address, '/api/state', {}, await signIn(address))).output as ConsoleState;
    expect(state.models).toHaveLength(40);
    expect(faults).toEqual([]);
  });
});
