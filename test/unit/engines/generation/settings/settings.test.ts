import type { PositionKind } from '../../../../../runtime/core/readers.js';
import { contextLengthOf } from '../../../../../runtime/engines/repository/sequence-lengths.js';
import { contextLimitOf } from '../../../../../runtime/engines/generation/settings/answer-length.js';
import { mergeSettings } from '../../../../../runtime/engines/generation/settings/settings.js';
import { settingsOf } from '../support.js';

describe('precedence', () => {
  const repository = { do_sample: true, temperature: 0.6, top_k: 20, num_beams: 3, repetition_penalty: 1.2 };

  test('request, then repository, then Python', () => {
    const settings = settingsOf({ top_k: 0, temperature: 0.9 }, { repository });
    expect(settings).toMatchObject({ doSample: true, temperature: 0.9, topK: 0, numBeams: 3, topP: 1 });
    expect(settings.repetitionPenalty).toBe(1.2);
  });

  test('null means not set', () => {
    expect(settingsOf({ temperature: null, num_beams: null }, { repository })).toMatchObject({
      ...{ temperature: 0.6, numBeams: 3 },
    });
  });

  test('a repository without top_k says null', () => {
    expect(settingsOf({}, { repository: { top_k: null } }).topK).toBe(0);
    expect(settingsOf({ top_k: 7 }, { repository: { top_k: null } }).topK).toBe(7);
  });

  test('nothing samples or searches beams unless someone says so', () => {
    expect(settingsOf({})).toMatchObject({ doSample: false, numBeams: 1, topK: 50, maxNewTokens: 256 });
  });

  test.each([
    ['a temperature alone draws', { temperature: 0.7 }, {}, true],
    ['do_sample: false wins over it', { temperature: 0.7, do_sample: false }, {}, false],
    ['so it does over the repository', { temperature: 0.7, do_sample: false }, repository, false],
    [
      'but not the repository’s over the request’s temperature',
      { temperature: 2 },
      { do_sample: false },
      true,
    ],
    ['a temperature of the repository draws nothing', {}, { temperature: 0.7 }, false],
    ['0 draws nothing', { temperature: 0, do_sample: true }, {}, false],
    ['null is as if it were not there', { temperature: null }, {}, false],
    ['other sampling parameters draw nothing', { top_k: 3, top_p: 0.5 }, {}, false],
  ])('%s', (_, request, given, drawn) => {
    expect(settingsOf(request, { repository: given }).doSample).toBe(drawn);
  });

  test('temperature 0 is greedy, whatever the repository says', () => {
    expect(settingsOf({ temperature: 0 }, { repository }).doSample).toBe(false);
  });

  test('end tokens are one, several or none', () => {
    const eos = (value: unknown) => [
      ...settingsOf({}, { repository: value === undefined ? {} : { eos_token_id: value } }).eosTokenIds,
    ];
    expect([eos(2), eos([2, 7]), eos(undefined)]).toEqual([[2], [2, 7], []]);
  });
});

describe('lengths', () => {
  const limits = { promptLength: 10, contextLength: 40, hardLimit: true };
  const newTokens = (request: object, repository: object, more: object = limits) =>
    mergeSettings({ ...limits, ...more, request, repository: repository as never }).maxNewTokens;

  test.each([
    ['256 by default', {}, {}, 256, { contextLength: undefined }],
    ['cut to the room that is left', {}, {}, 30, {}],
    ['not cut where positions never end', {}, {}, 256, { hardLimit: false }],
    ['max_length counts the prompt', { max_length: 15 }, {}, 5, {}],
    ['max_new_tokens wins over max_length', { max_new_tokens: 7, max_length: 15 }, {}, 7, {}],
    ['the repository’s max_new_tokens', {}, { max_new_tokens: 9, max_length: 15 }, 9, {}],
    ['the repository’s max_length', {}, { max_length: 15 }, 5, {}],
    ['a repository’s max_length of 20 is nobody’s', {}, { max_length: 20 }, 30, {}],
  ])('%s', (_, request, repository, expected, more) => {
    expect(newTokens(request, repository, more)).toBe(expected);
  });

  test('min_new_tokens wins over min_length', () => {
    expect(settingsOf({ min_length: 30 }).minNewTokens).toBe(26);
    expect(settingsOf({ min_length: 30, min_new_tokens: 2 }).minNewTokens).toBe(2);
    expect(settingsOf({ min_length: 2 }).minNewTokens).toBe(0);
  });

  test.each([
    [{ contextLength: 10 }, {}, /has 10 tokens, 1 too many: this model takes 10/],
    [{ contextLength: 10, hardLimit: false }, {}, /1 too many/],
    [{}, { max_length: 10 }, /max_length is 10 with the prompt included/],
  ])('a prompt without room is refused: %j %j', (more, request, message) => {
    expect(() => newTokens(request, {}, more)).toThrow(message);
  });

  test('the limit is found under the names that families give it', () => {
    const found = [{ n_positions: 8 }, { max_position_embeddings: 9 }, { text_config: { n_ctx: 7 } }, {}];
    expect(found.map(contextLengthOf)).toEqual([8, 9, 7, undefined]);
    expect(contextLengthOf({ model_type: 'mpt', max_seq_len: 64 })).toBe(64);
  });

  test('learned tables and graphs without position input end at it', () => {
    const inputs = ['input_ids', 'attention_mask', 'position_ids'];
    const ends = (kind: PositionKind | undefined, inputNames: string[], maxPositions = Infinity) =>
      contextLimitOf({ max_position_embeddings: 64 }, { inputNames, maxPositions }, kind);
    expect(ends('learned', inputs)).toEqual({ contextLength: 64, hardLimit: true });
    expect(ends(undefined, inputs)).toEqual({ contextLength: 64, hardLimit: false });
    expect(ends(undefined, inputs.slice(0, 2))).toEqual({ contextLength: 64, hardLimit: true });
    expect(ends(undefined, inputs, 48)).toEqual({ contextLength: 48, hardLimit: true });
  });
});
