import { jest } from '@jest/globals';
import { cp, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadTokenizer } from '../../runtime/engines/tokenizers/tokenizer.js';
import { modelEnv, ROOT, startServer } from '../fakes/server.js';

/** Calls through a real server. The model is a tiny random one: biases make it write what a trained one would. */

jest.setTimeout(60_000);

const CHAT = join(ROOT, 'test/fixtures/zoo/chat/llama-chat/repo');
const TEMPLATE = join(ROOT, 'test/fixtures/tool-templates/hermes.jinja');

const ANSWER =
  '<think>\nParis, then.\n</think>\n\nLet me see.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris \\"é\\"", ' +
  '"days": 3}}\n</tool_call>\n<tool_call>\n{"name": "get_weather", "arguments": {}}\n</tool_call>';
const ARGUMENTS = '{"city": "Paris \\"é\\"", "days": 3}';

const tools = [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }];

interface Answer {
  output: {
    content: string | null;
    reasoning_content?: string;
    tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  };
  error: string | null;
}

/** Each token of the text is likeliest after all that come before it. */
async function biasTo(dir: string, text: string, end: number): Promise<[number[], number][]> {
  const { ids } = (await loadTokenizer(dir)).encode(text, { specialTokens: false });
  const all = [...ids, end];
  return all.map((_, i) => [all.slice(0, i + 1), 1000 * (i + 1)]);
}

test('calls, reasoning and content, whole and streamed', async () => {
  const dir = join(await mkdtemp(join(tmpdir(), 'slipway-tools-')), 'repo');
  await cp(CHAT, dir, { recursive: true });
  const config = JSON.parse(await readFile(join(dir, 'tokenizer_config.json'), 'utf8')) as object;
  const chat_template = await readFile(TEMPLATE, 'utf8');
  await writeFile(join(dir, 'tokenizer_config.json'), JSON.stringify({ ...config, chat_template }));
  const server = await startServer(await modelEnv(dir, { task: 'chat' }));
  const post = (body: object, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/run`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  try {
    await server.ready();
    const status = (await (await fetch(`${server.url}/status`)).json()) as Record<string, unknown>;
    expect(status).toMatchObject({
      output: {
        tools: { ...{ format: 'json', known_by: 'probe', markers: ['<tool_call>'], parallel: true } },
      },
    });
    const sequence_bias = await biasTo(dir, ANSWER, 519);
    const messages = [{ role: 'user', content: 'Weather?' }];
    const params = { tools, max_new_tokens: 300, sequence_bias, eos_token_id: 519 };

    const plain = (await (await post({ messages, params })).json()) as Answer;
    expect(plain.output).toEqual({ role: 'assistant', content: ANSWER });

    const answer = await post({ messages, params: { ...params, parse_response: true } });
    const { output } = (await answer.json()) as Answer;
    expect(output).toEqual({
      ...{ role: 'assistant', content: 'Let me see.', reasoning_content: 'Paris, then.' },
      tool_calls: [ARGUMENTS, '{}'].map((given) => ({
        ...{ id: expect.stringMatching(/^call_\w{24}$/), type: 'function' },
        function: { name: 'get_weather', arguments: given },
      })),
    });
    expect(answer.headers.get('inference-finish-reason')).toBe('tool_calls');
    expect(Number(answer.headers.get('inference-tokens-reasoning'))).toBeGreaterThan(5);

    const body = { messages, stream: true, params: { ...params, parse_response: true } };
    const events = await (await post(body, { accept: 'text/event-stream' })).text();
    expect(joinedEvents(events)).toEqual({
      ...{ text: 'Let me see.', reasoning: 'Paris, then.' },
      calls: [`get_weather${ARGUMENTS}`, 'get_weather{}'],
    });
    expect(events).toContain('"finish_reason":"tool_calls"');
    expect(await (await post(body)).text()).toBe('Let me see.');

    const first = { ...params, parse_response: true, parallel_tool_calls: false };
    const one = (await (await post({ messages, params: first })).json()) as Answer;
    expect(one.output.tool_calls).toHaveLength(1);

    const cut = { ...params, parse_response: true, max_new_tokens: sequence_bias.length - 20 };
    const short = await post({ messages, params: cut });
    expect(((await short.json()) as Answer).output.tool_calls).toHaveLength(1);
    expect(short.headers.get('inference-finish-reason')).toBe('length');

    const none = {
      ...params,
      tool_choice: 'none',
      parse_response: true,
      sequence_bias: [],
      max_new_tokens: 1,
    };
    const shown = async (given: object) =>
      Number((await post({ messages, params: given })).headers.get('inference-tokens-in'));
    expect(await shown(none)).toBeLessThan(await shown({ ...none, tool_choice: 'auto' }));
    const unread = { ...none, parse_response: false };
    expect(await shown(unread)).toBe(await shown(none));

    const effort = { ...params, reasoning_effort: 'high' };
    const refused = await post({ messages, params: effort });
    expect([refused.status, ((await refused.json()) as Answer).error]).toEqual([
      422,
      expect.stringContaining('params.reasoning_effort'),
    ]);
  } finally {
    await server.stop();
  }
});

function joinedEvents(events: string): { text: string; reasoning: string; calls: string[] } {
  const read = { text: '', reasoning: '', calls: [] as string[] };
  for (const [, json] of events.matchAll(/^data: (.*)$/gm)) {
    const piece = JSON.parse(json!) as {
      text?: string;
      reasoning?: string;
      call?: { index: number; name?: string; arguments?: string };
    };
    read.text += piece.text ?? '';
    read.reasoning += piece.reasoning ?? '';
    if (!piece.call) continue;
    const { index, name = '', arguments: given = '' } = piece.call;
    read.calls[index] = (read.calls[index] ?? '') + name + given;
  }
  return read;
}
