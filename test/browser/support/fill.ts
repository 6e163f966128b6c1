import type { Page } from 'playwright-core';

type Request = Readonly<Record<string, unknown>>;

interface Message {
  role: string;
  content: string | ({ type: string; text?: string } & Record<string, unknown>)[];
}

/** What a link holds of a request: its parameters, and the messages before the last one. */
export function linkOf({ params = {}, messages }: Request): string {
  const before = (messages as Message[] | undefined)?.slice(0, -1);
  const state = { input: before?.length ? { messages: before } : {}, params };
  return `#${encodeURIComponent(JSON.stringify(state))}`;
}

/** Not fields of the form. */
const IN_LINK = new Set(['params', 'stream', 'json']);

/** Fills in the form as a person does, and sends it. */
export async function fillAndSend(page: Page, request: Request): Promise<void> {
  for (const [name, value] of Object.entries(request)) {
    if (IN_LINK.has(name)) continue;
    if (name === 'messages') return sendMessage(page, (value as Message[]).at(-1)!);
    if (name === 'base64') await page.setInputFiles('input[type=file]', fileOf(value as string));
    else if (Array.isArray(value) || name === 'candidate_labels')
      await typeLabels(page, name, value as string | string[]);
    else await page.fill(`#field-${name}`, String(value));
  }
  await page.click('button[type=submit]');
}

async function typeLabels(page: Page, name: string, labels: string | string[]): Promise<void> {
  for (const label of [labels].flat().flatMap((text) => text.split(','))) {
    await page.fill(`#field-${name}`, label.trim());
    await page.press(`#field-${name}`, 'Enter');
  }
}

async function sendMessage(page: Page, { content }: Message): Promise<void> {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const media = parts.flatMap((part) =>
    Object.values(part).filter((value) => String(value).startsWith('data:')),
  );
  if (media.length > 0)
    await page.setInputFiles(
      '.composer input[type=file]',
      media.map((each) => fileOf(each as string)),
    );
  await page.waitForFunction(
    (count) => document.querySelectorAll('.composer .medium').length === count,
    media.length,
  );
  await page.fill('#composer', parts.map(({ text = '' }) => text).join(''));
  await page.press('#composer', 'Enter');
}

function fileOf(dataUrl: string): { name: string; mimeType: string; buffer: Buffer } {
  const [, mimeType, data] = /^data:([^;]+);base64,(.*)$/s.exec(dataUrl)!;
  return { name: 'file', mimeType: mimeType!, buffer: Buffer.from(data!, 'base64') };
}
