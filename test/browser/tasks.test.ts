import type { Browser, Page, Response } from 'playwright-core';
import { TASK_IDS, type TaskId } from '../../runtime/core/task-ids.js';
import { difference } from '../parity/difference.js';
import { type ZooCase, zooModel, zooNames } from '../parity/zoo.js';
import { barriers, describeWithBrowser, launch, watch } from './support/browser.js';
import { fillAndSend, linkOf } from './support/fill.js';
import { servePage } from './support/page-server.js';

type Row = Record<string, unknown>;

/** What the page has to show of an output: where it is, how often, and which texts stand in it. */
interface Shown {
  selector: string;
  count: number;
  texts: string[];
}

const percent = (score: unknown): string => `${((score as number) * 100).toFixed(1)} %`;
const scored = (rows: unknown, label: string): string[] =>
  (rows as Row[]).flatMap((row) => [
    String(row[label]),
    ...(typeof row['score'] === 'number' ? [percent(row['score'])] : []),
  ]);
const bars =
  (label: string) =>
  (output: unknown): Shown => ({
    ...{ selector: '.bars li', count: (output as Row[]).length, texts: scored(output, label) },
  });
const boxes = (output: unknown): Shown => ({
  ...{ selector: 'svg.over rect', count: (output as Row[]).length, texts: scored(output, 'label') },
});
const text = (output: unknown): Shown => ({ selector: '.written', count: 1, texts: [output as string] });
const message = (output: unknown): Shown => ({
  ...{ selector: '.message.assistant p', count: 1, texts: [(output as { content: string }).content] },
});
const vector = (output: unknown): Shown => {
  let found = output;
  while (Array.isArray((found as unknown[])[0])) [found] = found as unknown[];
  const numbers = found as number[];
  return { selector: 'code', count: 1, texts: [`${numbers.length} numbers`, numbers[0]!.toFixed(4)] };
};
const medium = (tag: string) => (): Shown => ({
  selector: `.outcome ${tag}.medium`,
  count: 1,
  texts: ['Download'],
});

const SHOWN: Record<TaskId, (output: unknown) => Shown> = {
  'text-generation': text,
  chat: message,
  'text2text-generation': text,
  summarization: text,
  translation: text,
  'fill-mask': bars('sequence'),
  'text-classification': bars('label'),
  'token-classification': (output) => ({
    ...{ selector: 'mark', count: (output as Row[]).length, texts: scored(output, 'entity') },
  }),
  'feature-extraction': vector,
  'sentence-similarity': vector,
  'zero-shot-classification': (output) => {
    const { labels, scores } = output as { labels: string[]; scores: number[] };
    return { selector: '.bars li', count: labels.length, texts: [...labels, ...scores.map(percent)] };
  },
  'question-answering': (output) => ({
    selector: 'mark',
    count: 1,
    texts: scored([output].flat(), 'answer'),
  }),
  'image-classification': bars('label'),
  'image-segmentation': (output) => ({ ...boxes(output), selector: 'canvas.over' }),
  'image-feature-extraction': vector,
  'image-to-text': text,
  'object-detection': boxes,
  'depth-estimation': (output) => {
    const values = (
      output as { formatted_predicted_depth_array: number[][] }
    ).formatted_predicted_depth_array.flat();
    return { selector: '.ramp', count: 1, texts: [String(Math.min(...values)), String(Math.max(...values))] };
  },
  'mask-generation': (output) => {
    const { scores } = output as { scores: number[] };
    return { selector: 'canvas.over', count: scores.length, texts: scores.map(percent) };
  },
  'visual-question-answering': bars('answer'),
  'document-question-answering': bars('answer'),
  'zero-shot-image-classification': bars('label'),
  'zero-shot-object-detection': boxes,
  'text-to-image': medium('img'),
  'unconditional-image-generation': medium('img'),
  'image-text-to-text': message,
  'audio-classification': bars('label'),
  'automatic-speech-recognition': text,
  'text-to-speech': medium('audio'),
  'text-to-audio': medium('audio'),
  'audio-text-to-text': message,
  'video-classification': bars('label'),
  'video-text-to-text': message,
  'text-to-video': medium('video'),
};

/** The output of a call, in the envelope or at the end of events. */
async function outputOf(response: Response): Promise<unknown> {
  const body = await response.text();
  const final = /event: final\ndata: (.*)/.exec(body)?.[1] ?? body;
  return (JSON.parse(final) as { output: unknown }).output;
}

/** The medium that is shown can be shown: it has a size, or a length. */
const isPlayable = (page: Page, selector: string): Promise<unknown> =>
  page.waitForFunction(
    (found) => {
      const element = document.querySelector<HTMLElement>(found)!;
      if (element instanceof HTMLImageElement) return element.naturalWidth > 0;
      return (element as HTMLMediaElement).duration > 0;
    },
    selector,
    { timeout: 10_000 },
  );

/** Something was painted. */
const isDrawn = (page: Page, selector: string): Promise<unknown> =>
  page.waitForFunction(
    (found) => {
      const canvas = document.querySelector<HTMLCanvasElement>(found)!;
      return canvas
        .getContext('2d')!
        .getImageData(0, 0, canvas.width, canvas.height)
        .data.some((byte) => byte > 0);
    },
    selector,
    { timeout: 10_000 },
  );

describeWithBrowser('the page of a model', () => {
  let browser: Browser;
  beforeAll(async () => void (browser = await launch()));
  afterAll(() => browser.close());

  test.each(TASK_IDS)('%s: filled in by hand, it shows the answer as people want it', async (task) => {
    const model = await zooModel(task, (await zooNames(task))[0]!);
    const { request, expect: wanted, compare } = model.cases.find((each: ZooCase) => !each.expect_error)!;
    const server = await servePage(model);
    const page = await browser.newPage();
    try {
      const faults = watch(page, server.address);
      await page.goto(server.address + linkOf(request));
      await page.waitForSelector('form');
      const answered = page.waitForResponse((response) => response.url().endsWith('/run'));
      await fillAndSend(page, request);
      const response = await answered;
      await page.waitForSelector('.figures');
      const output = await outputOf(response);
      const { selector, count, texts } = SHOWN[task](output);
      expect(await difference(output, wanted, compare)).toBeNull();
      expect({ selector, count: await page.locator(selector).count() }).toEqual({ selector, count });
      const seen = await page.innerText('.columns');
      for (const each of texts) expect(seen).toContain(each.trim().slice(0, 60));
      if (selector.endsWith('.medium')) await isPlayable(page, selector);
      if (selector.includes('audio')) await isDrawn(page, '.outcome canvas.wave');
      expect(await barriers(page)).toEqual([]);
      expect(faults).toEqual([]);
    } finally {
      await page.close();
      await server.close();
    }
  });
});
