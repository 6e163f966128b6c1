import type { Browser, Page } from 'playwright-core';
import type { AppDependencies } from '../../runtime/http/app.js';
import { zooModel } from '../parity/zoo.js';
import { barriers, describeWithBrowser, launch, watch } from './support/browser.js';
import { closeServers, gateway, secret } from '../fakes/gateway.js';
import { type PageServer, PLAYGROUND, servePage } from './support/page-server.js';

const RUN = 'button[type=submit]';

/** Long enough that a text is still being written when it is stopped. */
const LONG = { params: { max_new_tokens: 120, min_new_tokens: 120 } };

describeWithBrowser('the page', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await launch()));
  afterAll(() => browser.close());

  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });

  async function open(
    [task, name]: [string, string],
    {
      hash = '',
      more = {},
      view = {},
    }: { hash?: string; more?: Partial<AppDependencies>; view?: Parameters<Browser['newPage']>[0] } = {},
  ): Promise<{ page: Page; server: PageServer; faults: string[] }> {
    const server = await servePage(await zooModel(task, name), more);
    const page = await browser.newPage(view);
    page.setDefaultTimeout(8000);
    closing.push(() => page.close(), server.close);
    const faults = watch(page, server.address);
    await page.goto(server.address + hash);
    await page.waitForSelector('form');
    return { page, server, faults };
  }

  const linkTo = (state: object) => `#${encodeURIComponent(JSON.stringify(state))}`;

  test('a text is shown while it is written, and what has come stays when it is stopped', async () => {
    const { page, faults } = await open(['text-generation', 'llama'], {
      hash: linkTo({ input: {}, ...LONG }),
    });
    await page.fill('#field-text', 'Once upon a time');
    await page.click('button[type=submit]');
    await page.waitForFunction(() => (document.querySelector('.written')?.textContent ?? '').length > 20);
    await page.click('button.main');
    await page.waitForSelector('button[type=submit]');
    const stopped = await page.innerText('.written');
    expect(stopped.length).toBeGreaterThan(20);
    await page.waitForTimeout(300);
    expect(await page.innerText('.written')).toBe(stopped);
    expect(await page.innerText('.figures')).toMatch(/^\d+\.\d\d s, \d+ pieces, [\d.]+ a second$/);
    expect(faults).toEqual([]);
  });

  test('a conversation goes on, is edited and asked again; a new one is empty', async () => {
    const { page, faults } = await open(['chat', 'llama-chat'], {
      hash: linkTo({ input: {}, params: { max_new_tokens: 6 } }),
    });
    const say = async (text: string) => {
      await page.fill('#composer', text);
      await page.press('#composer', 'Enter');
      await page.waitForSelector('text=Regenerate');
    };
    await say('Tell me a story');
    await say('And then?');
    expect(await page.locator('.message').count()).toBe(4);
    const second = await page.innerText('.message >> nth=3 >> p');
    await page.click('text=Regenerate');
    await page.waitForSelector('text=Regenerate');
    expect(await page.innerText('.message >> nth=3 >> p')).toBe(second);
    page.once('dialog', (dialog) => void dialog.accept('Tell me nothing'));
    await page.click('.message >> nth=0 >> text=Edit');
    await page.waitForFunction(() => document.querySelectorAll('.message').length === 2);
    await page.waitForSelector('text=Regenerate');
    await page.click('text=New conversation');
    expect(await page.locator('.message').count()).toBe(0);
    expect(faults).toEqual([]);
  });

  test('a link brings the call back: fields, changed parameters and their number', async () => {
    const { page, faults } = await open(['text-classification', 'distilbert']);
    await page.fill('#field-text', 'A fine video');
    await page.click('details.params > summary');
    await page.fill('#param-top_k', '2');
    expect(await page.innerText('.count')).toBe('1 changed');
    await page.reload();
    await page.waitForSelector('form');
    expect(await page.inputValue('#field-text')).toBe('A fine video');
    await page.click(RUN);
    await page.waitForSelector('.figures');
    expect(await page.locator('.bars li').count()).toBe(2);
    await page.click('details.params > summary');
    expect(await page.inputValue('#param-top_k')).toBe('2');
    await page.click('text=Reset all');
    expect(await page.inputValue('#param-top_k')).toBe('');
    await page.click(RUN);
    await page.waitForFunction(() => document.querySelectorAll('.bars li').length === 1);
    expect(faults).toEqual([]);
  });

  test('an error shows its text, its status and its request, and the form keeps its content', async () => {
    const { page } = await open(['text-classification', 'distilbert'], {
      hash: linkTo({ input: { text: 'kept' }, params: { function_to_apply: 'nonsense' } }),
    });
    await page.click(RUN);
    const said = await page.innerText('.error');
    expect(said).toMatch(/function_to_apply/);
    expect(said).toMatch(/status 400, request [\da-f-]{36}/);
    expect(await page.inputValue('#field-text')).toBe('kept');
  });

  test('where a key is wanted the page asks for it, sends it, and forgets it', async () => {
    const { page } = await open(['text-classification', 'distilbert'], {
      more: { requiredKey: 'open-sesame' },
    });
    await page.fill('#field-text', 'x');
    await page.click(RUN);
    await page.fill('#key', 'open-sesame');
    await page.click(RUN);
    await page.waitForSelector('.bars');
    const kept = await page.evaluate(() =>
      JSON.stringify([Object.values(localStorage), Object.values(sessionStorage), location.href]),
    );
    expect(kept).not.toContain('sesame');
    await page.reload();
    await page.waitForSelector('form');
    expect(await page.locator('#key').count()).toBe(0);
  });

  test('the keyboard alone is enough', async () => {
    const { page, faults } = await open(['zero-shot-classification', 'distilbert-mnli']);
    const tabTo = async (id: string) => {
      for (let presses = 0; presses < 30; presses++) {
        if (await page.evaluate((wanted) => document.activeElement?.id === wanted, id)) return;
        await page.keyboard.press('Tab');
      }
      throw new Error(`Tab does not reach ${id}`);
    };
    await tabTo('field-text');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('The train leaves');
    await tabTo('field-candidate_labels');
    for (let presses = 0; presses < 10; presses++) await page.keyboard.press('Backspace');
    await page.keyboard.type('travel,cooking');
    await page.keyboard.press('Enter');
    expect(await page.locator('.chip').allInnerTexts()).toEqual([
      expect.stringContaining('travel'),
      expect.stringContaining('cooking'),
    ]);
    await tabTo('field-candidate_labels');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.bars');
    expect(await page.locator('.bars li').count()).toBe(2);
    expect(faults).toEqual([]);
  });

  test.each(['light', 'dark'] as const)(
    '%s by the system, the other by the switch, on a narrow screen',
    async (scheme) => {
      const { page, faults } = await open(['text-classification', 'distilbert'], {
        view: { colorScheme: scheme, viewport: { width: 360, height: 740 } },
      });
      const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      const [light, dark] = ['rgb(247, 247, 245)', 'rgb(22, 24, 27)'];
      expect(await ground()).toBe(scheme === 'light' ? light : dark);
      await page.click('details.params > summary');
      await page.click(RUN);
      await page.waitForSelector('.figures');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      expect(await barriers(page)).toEqual([]);
      await page.click('text=Theme: system');
      expect(await ground()).toBe(light);
      await page.click('text=Theme: light');
      expect(await ground()).toBe(dark);
      await page.reload();
      await page.waitForSelector('text=Theme: dark');
      expect(await ground()).toBe(dark);
      expect(faults).toEqual([]);
    },
  );

  test('while the model comes, the page says how far it is', async () => {
    let state = { state: 'downloading', reason: null as string | null, progress: 0.25 as number | null };
    const server = await servePage(await zooModel('text-classification', 'distilbert'));
    const page = await browser.newPage();
    closing.push(() => page.close(), server.close);
    await page.route('**/status', (route) => route.fulfill({ json: { error: null, output: state } }));
    await page.goto(server.address);
    await page.waitForSelector('text=The model is not ready: downloading');
    expect(await page.getAttribute('main progress', 'value')).toBe('0.25');
    state = { state: 'ready', reason: null, progress: null };
    await page.waitForSelector('.state.ready');
    expect(await page.locator('text=not ready').count()).toBe(0);
  });

  test('through a gateway the page asks for the key first, then is as the model’s own', async () => {
    const server = await servePage(await zooModel('text-classification', 'distilbert'));
    const base = await gateway({
      models: [
        { modelId: 'org/name', task: 'text-classification', addresses: [server.address.slice(0, -1)] },
      ],
      parts: { playground: PLAYGROUND },
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(8000);
    closing.push(() => page.close(), closeServers, server.close);
    await page.goto(`${base}/org/name`);
    await page.fill('#key', 'nonsense');
    await page.click('text=Open');
    await page.waitForSelector('text=This key is not known');
    await page.fill('#key', secret);
    await page.click('text=Open');
    await page.fill('#field-text', 'A fine video');
    await page.click('main form:has(#field-text) button[type=submit]');
    await page.waitForSelector('.bars');
    expect(await page.innerText('h1')).toBe('org/name');
    await page.click('text=Copy as code');
    expect(await page.innerText('.snippets pre')).toContain(`curl ${base}/org/name/`);
    expect(await page.innerText('.snippets pre')).not.toContain(secret);
  });

  test('the call as code runs as it stands', async () => {
    const { page, server } = await open(['text-classification', 'distilbert'], {
      hash: linkTo({ input: { text: "it's fine" }, params: { top_k: 1 } }),
    });
    await page.click('text=Copy as code');
    await page.selectOption('[aria-label=language]', 'JavaScript');
    const code = await page.innerText('.snippets pre');
    // oxlint-disable-next-line typescript/no-implied-eval -- it is our own snippet, run as a reader would run it
    const made = new Function(
      `return (async () => { ${code}\nreturn { error, output }; })()`,
    ) as () => Promise<unknown>;
    expect(code).toContain(`${server.address}run`);
    expect(await made()).toEqual({
      error: null,
      output: [{ label: expect.any(String), score: expect.any(Number) }],
    });
  });
});
