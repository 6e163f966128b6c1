import { beforeAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { GenerateOptions } from '../../../../../runtime/core/handles/index.js';
import type { ChatOptions } from '../../../../../runtime/core/tools.js';
import { filled } from '../../../../../runtime/engines/tool-calls/probe/frame.js';
import type { Read } from '../support.js';
import { TEMPLATES } from '../templates.js';
import { type RandomModel, randomModel } from './random-answers.js';

const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    unit: { enum: ['celsius', 'kelvin'] },
    days: { type: 'integer', minimum: 1, maximum: 14 },
    exact: { type: 'boolean' },
    place: { $ref: '#/$defs/place' },
    near: { type: 'array', items: { type: 'number', maximum: 9, minimum: 0 } },
    more: { type: 'array', items: { $ref: '#/properties/unit' }, maxItems: 2 },
    note: { anyOf: [{ type: 'string' }, { type: 'null' }] },
  },
  required: ['unit', 'days'],
  additionalProperties: false,
  $defs: {
    place: {
      type: 'object',
      properties: { x: { type: 'integer' }, kind: { const: 'point' } },
      required: ['kind'],
      additionalProperties: false,
    },
  },
};
const tool = (name: string, given: object | undefined, strict = true) => ({
  type: 'function',
  function: { name, ...(given ? { parameters: given } : {}), strict },
});
const tools = [
  tool('get', parameters),
  tool('get_all', undefined),
  tool('list', { type: 'object', properties: { all: { type: 'boolean' } }, additionalProperties: false }),
];
/** Refers to itself, which FunctionGemma's way to write refuses. */
const tree = {
  type: 'object',
  properties: {
    leaf: { enum: ['a', 'b'] },
    below: { type: 'array', items: { $ref: '#' }, minItems: 1, maxItems: 2 },
  },
  required: ['leaf'],
  additionalProperties: false,
};
const ajv = new Ajv2020({ strict: false });
const valid = new Map(
  tools.map(({ function: one }) => [
    one.name,
    ajv.compile('parameters' in one ? one.parameters! : { type: 'object', maxProperties: 0 }),
  ]),
);

function expectValid({ calls }: Read, context: unknown): void {
  for (const { name, arguments: given } of calls) {
    const check = valid.get(name)!;
    expect([context, name, given, check(JSON.parse(given)), check.errors]).toEqual([
      ...[context, name, given, true, null],
    ]);
  }
}

const FORMAT = {
  type: 'object',
  properties: { answer: { enum: [1, 2] }, why: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
};
const isFormat = ajv.compile(FORMAT);

/** How many answers of a kind; more by an environment variable. */
const TIMES = Number(process.env['GENERATIONS'] ?? 200) / 200;
const MORE_SEEDS = Array.from({ length: 30 * TIMES }, (_, i) => i + 1);
const SEEDS = Array.from({ length: 6 * TIMES }, (_, i) => i + 1);

describe.each(TEMPLATES)('%s', (file) => {
  let model: RandomModel;
  beforeAll(async () => {
    model = await randomModel(file);
  });

  test.each<[string, ChatOptions]>([
    ['required', { tools, tool_choice: 'required' }],
    ['required, one', { tools, tool_choice: 'required', parallel_tool_calls: false }],
    ['named', { tools, tool_choice: { name: 'get' } }],
  ])('%s: what ends is calls and nothing else', (_, options) => {
    const { source } = model.grammar(options)!;
    let ended = 0;
    const several = options.tool_choice === 'required' && options.parallel_tool_calls !== false;
    for (const seed of SEEDS) {
      const written = model.write(source, seed, 400);
      const read = model.read(written, { tools });
      expectValid(read, written.pieces);
      if (!written.ended) continue;
      ended += 1;
      expect([written.pieces, read.content]).toEqual([written.pieces, '']);
      expect([written.pieces, read.calls.length]).toEqual([
        ...[written.pieces, several ? expect.any(Number) : 1],
      ]);
      expect(read.calls.length).toBeGreaterThan(0);
    }
    expect(ended).toBeGreaterThan(SEEDS.length / 4);
  });

  test.each<[string, ChatOptions & GenerateOptions]>([
    ['strict calls among words', { tools }],
    ['strict calls beside a format', { tools, json_schema: FORMAT }],
  ])('%s', (_, options) => {
    const refused = 'bare' in model.facts.format && model.facts.format.bare && 'json_schema' in options;
    if (refused) {
      expect(() => model.grammar(options)).toThrow('params.json_schema: does not go with params.tools here');
      return;
    }
    const { source, optional } = model.grammar(options)!;
    expect(optional).toBe(false);
    const hasTextFormat = 'json_schema' in options;
    const found = { calls: 0, texts: 0 };
    for (const seed of MORE_SEEDS) {
      const written = model.write(source, seed, 300);
      const read = model.read(written, { tools, hasTextFormat });
      expectValid(read, written.pieces);
      found.calls += Number(read.calls.length > 0);
      found.texts += Number(read.content !== '');
      if (!hasTextFormat || !written.ended || read.calls.length > 0) continue;
      expect([written.pieces, read.content, isFormat(JSON.parse(read.content))]).toEqual([
        ...[written.pieces, read.content, true],
      ]);
    }
    expect(found.texts).toBeGreaterThan(0);
    expect(found.calls).toBeGreaterThan(0);
  });

  test('thoughts come first', () => {
    const { reasoning, format } = model.facts;
    if (!reasoning || format.kind === 'harmony') return;
    const choice = { tools, tool_choice: 'required' } as const;
    for (const thoughts of ['before', 'within'] as const) {
      const { source } = model.grammar(choice, { thoughts })!;
      let thought = 0;
      for (const seed of SEEDS) {
        const written = model.write(source, seed, 400);
        const read = model.read(written, { tools, thinking: thoughts === 'within' });
        expectValid(read, written.pieces);
        if (!written.ended) continue;
        expect([written.pieces, read.content]).toEqual([written.pieces, '']);
        expect(read.calls.length).toBeGreaterThan(0);
        thought += Number(read.reasoning !== '');
      }
      expect(thought).toBeGreaterThan(0);
    }
  });

  test('a tree', () => {
    if (model.facts.format.kind === 'gemma') return;
    const choice = { tools: [tool('plant', tree)], tool_choice: 'required' } as const;
    const { source } = model.grammar(choice)!;
    const check = ajv.compile(tree);
    let deep = 0;
    for (const seed of MORE_SEEDS) {
      const written = model.write(source, seed, 120);
      for (const { arguments: given } of model.read(written, choice).calls) {
        expect([given, check(JSON.parse(given))]).toEqual([given, true]);
        deep += Number(given.includes('leaf', given.indexOf('leaf') + 1));
      }
    }
    expect(deep).toBeGreaterThan(0);
  });

  test('behind the forced beginning', () => {
    const { frame, format } = model.facts;
    if (format.kind === 'harmony') return;
    const { open, between } = frame!;
    for (const [begun, tool_choice, before] of [
      ['open', 'required', open],
      ['name', { name: 'get' }, `${open}get${between}`],
    ] as const) {
      const { source } = model.grammar({ tools, tool_choice }, { begun })!;
      let calls = 0;
      for (const seed of SEEDS) {
        const written = model.write(source, seed, 400);
        const read = model.read(written, { tools, before: filled(before) });
        expectValid(read, [before, written.pieces]);
        if (written.ended)
          expect([before, written.pieces, read.content]).toEqual([before, written.pieces, '']);
        calls += read.calls.length;
      }
      expect(calls).toBeGreaterThan(SEEDS.length / 4);
    }
  });
});
