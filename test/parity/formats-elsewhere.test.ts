import { jest } from '@jest/globals';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { fixtureSpec, serveInline } from './load.js';
import { zooModel } from './zoo.js';

/** Formats of answers about images, audio clips and videos, and of models with an encoder. */

jest.setTimeout(120_000);

const choices = ['red', 'green', 'blue'];

interface Case {
  task: TaskId;
  name: string;
  root?: string;
}

const CHATS: Case[] = [
  { task: 'image-text-to-text', name: 'llava-tiny' },
  { task: 'image-text-to-text', name: 'qwen2vl-tiny' },
  { task: 'image-text-to-text', name: 'florence2-tiny' },
  { task: 'audio-text-to-text', name: 'ultravox', root: 'zoo-own' },
  { task: 'video-text-to-text', name: 'smolvlm-video' },
];
const TEXTS: Case[] = [
  { task: 'text2text-generation', name: 't5' },
  { task: 'summarization', name: 't5-summary' },
  { task: 'summarization', name: 'bart-pair', root: 'zoo-own' },
];

const textOf = (output: unknown): string =>
  typeof output === 'string' ? output : (output as { content: string }).content;

test.each([...CHATS, ...TEXTS])('$task: $name answers in a format', async ({ task, name, root }) => {
  const { repo, about, cases } = await zooModel(task, name, root);
  const served = await serveInline(fixtureSpec(task, about.id, repo), repo);
  const { params: _, ...given } = cases.find((one) => !one.expect_error)!.request;
  const ask = async (params: object) => {
    const answer = await served.run({ ...given, params: { num_beams: 1, min_length: 0, ...params } });
    return [answer.status, answer.body.error ?? textOf(answer.body.output)] as const;
  };
  try {
    const free = await ask({ max_new_tokens: 8 });
    expect(free).toEqual([200, expect.any(String)]);
    expect(choices).not.toContain(free[1]);
    for (const seed of [1, 2, 3]) {
      const sampled = { max_new_tokens: 12, choices, do_sample: true, seed };
      expect(await ask(sampled)).toEqual([200, expect.stringMatching(/^(red|green|blue)$/)]);
    }
    expect(await ask({ max_new_tokens: 12, choices })).toEqual([
      ...[200, expect.stringMatching(/^(red|green|blue)$/)],
    ]);
    expect(await ask({ regex: 'a', num_beams: 2 })).toEqual([
      ...[422, 'params.num_beams: does not go with params.regex'],
    ]);
    expect(await ask({ json_schema: { not: {} } })).toEqual([
      ...[400, 'params.json_schema: not is not supported'],
    ]);
  } finally {
    served.stop();
  }
});

test.each(CHATS.filter(({ name }) => name !== 'florence2-tiny'))('$task: $name calls a tool', async (one) => {
  const { repo, about, cases } = await zooModel(one.task, one.name, one.root);
  const served = await serveInline(fixtureSpec(one.task, about.id, repo), repo);
  const { params: _, ...given } = cases.find(({ expect_error }) => !expect_error)!.request;
  const parameters = {
    type: 'object',
    properties: { a: { enum: [1, 2] } },
    required: ['a'],
    additionalProperties: false,
  };
  const tools = [{ type: 'function', function: { name: 'f', parameters } }];
  try {
    const params = { max_new_tokens: 40, tools, tool_choice: { name: 'f' } };
    const { status, body } = await served.run({ ...given, params });
    const { tool_calls } = body.output as { tool_calls: { function: { name: string; arguments: string } }[] };
    expect([status, tool_calls[0]!.function.name]).toEqual([200, 'f']);
    expect([{ a: 1 }, { a: 2 }]).toContainEqual(JSON.parse(tool_calls[0]!.function.arguments));
  } finally {
    served.stop();
  }
});
