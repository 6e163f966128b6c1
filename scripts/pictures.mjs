/**
 * Takes the screenshot of README.md from the real page: a model is served, its form is filled in, Chromium looks at it.
 * Usage: node scripts/pictures.mjs
 */
import { mkdirSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { serve, ZOO } from './clients/servers.mjs';
import { unpackFixtures } from './packing/unpack.mjs';

const FOLDER = 'docs/pictures';
const IMAGE = `${ZOO}/object-detection/detr-tiny/media/photo.jpg`;

const SHOTS = [
  {
    ...{
      name: 'detection',
      task: 'object-detection',
      folder: 'object-detection/detr-tiny',
      colorScheme: 'light',
    },
    async fill(page) {
      await page.setInputFiles('input[type=file]', IMAGE);
      await page.click('button[type=submit]');
      await page.waitForSelector('svg.over rect');
      await page.hover('.rows li');
    },
  },
];

unpackFixtures();
mkdirSync(FOLDER, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  for (const { name, task, folder, colorScheme, fill } of SHOTS) {
    const { address, child } = await serve(task, folder);
    const page = await browser.newPage({ viewport: { width: 1000, height: 560 }, colorScheme });
    await page.goto(address);
    await page.waitForSelector('.state.ready');
    await fill(page);
    await page.screenshot({ path: `${FOLDER}/${name}.png`, fullPage: true });
    await page.close();
    child.kill();
    console.log(`${FOLDER}/${name}.png`);
  }
} finally {
  await browser.close();
}
