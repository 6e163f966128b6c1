import {
  expandMedia,
  mediaPrompt,
} from '../../../../../../runtime/engines/generation/prompts/media/media-prompt.js';
import { ropePositions } from '../../../../../../runtime/engines/generation/prompts/media/qwen2-vl.js';
import type { EncodedMedium } from '../../../../../../runtime/engines/generation/prompts/media/media-prompt.js';

const family = {
  placeholder: '<image>',
  tokenId: 9,
  expand: ({ count }: { count: number }) => '<image>'.repeat(count),
};

const image = (id: number, count: number): EncodedMedium => ({
  ...{ id, count, patches: 4 * count },
  features: {
    type: 'float32',
    data: Float32Array.from({ length: count * 2 }, (_, i) => id * 100 + i),
    dims: [count, 2],
  },
});

const TOKENS = { tokenIds: [family.tokenId] };

const medium = (id: number, count: number) => ({ kind: 'image' as const, layout: image(id, count) });

test('media of several kinds go where their placeholders are', () => {
  const video = { placeholder: '<video>', expand: () => '[<image>]' };
  const clip = { kind: 'video' as const, layout: image(3, 1) };
  const given = [medium(1, 1), clip, medium(2, 2)];
  const { text, media } = expandMedia({ image: family, video }, '<video>a<image>b<image>', given);
  expect(text).toBe('[<image>]a<image>b<image><image>');
  expect(media).toEqual([given[1], given[0], given[2]]);
});

test('each placeholder becomes as many tokens as its image has features', () => {
  const media = [medium(1, 2), medium(2, 1)];
  const { text } = expandMedia({ image: family }, 'a <image> b <image>', media);
  expect(text).toBe('a <image><image> b <image>');
});

test('what images share with what stands beside them is written once', () => {
  const image = { ...family, shared: '|', expand: () => '|<image>|' };
  const given = [medium(1, 1), medium(2, 1), medium(3, 1)];
  expect(expandMedia({ image }, '<image><image>a|<image>', given).text).toBe('|<image>|<image>|a|<image>|');
  expect(expandMedia({ image }, 'a|||', []).text).toBe('a||');
});

test.each([
  ['a text that holds the placeholder', 'a <image>', 0],
  ['a template that leaves images out', 'a', 1],
])('%s is refused', (_, text, images) => {
  const given = Array.from({ length: images }, () => medium(1, 1));
  expect(() => expandMedia({ image: family }, text, given)).toThrow(/places for/);
});

test('a text that holds the placeholder of media that are not read is refused', () => {
  const image = { ...family, foreign: ['<audio>'] };
  expect(() => expandMedia({ image }, 'a <audio>', [])).toThrow(/must not hold <audio>/);
});

test('features stand where the tokens of images are, in the order of the images', () => {
  const prompt = mediaPrompt(TOKENS, [1, 9, 9, 9, 2, 9, 3], [image(1, 2), image(2, 2)]);
  expect(
    prompt.spans!.map(({ start, count, features: { data } }) => [start, count, [...(data as Float32Array)]]),
  ).toEqual([
    [1, 2, [100, 101, 102, 103]],
    [3, 1, [200, 201]],
    [5, 1, [202, 203]],
  ]);
  expect(prompt.positions).toBeUndefined();
});

test('another image has other keys, the same has the same', () => {
  const keysOf = (id: number) => mediaPrompt(TOKENS, [1, 9, 9, 2], [image(id, 2)]).keys;
  expect(keysOf(1)).toEqual(keysOf(1));
  const [one, other] = [keysOf(1)!, keysOf(2)!];
  expect([one[0], one[3]]).toEqual([1, 2]);
  expect(new Set([...one, ...other]).size).toBe(6);
  expect(Math.max(...one.slice(1, 3), ...other.slice(1, 3))).toBeLessThan(0);
});

test('as many tokens as features', () => {
  expect(() => mediaPrompt(TOKENS, [9], [image(1, 2)])).toThrow(/1 tokens of media.*2 features/);
  expect(mediaPrompt(TOKENS, [1, 2], [])).toEqual({ tokens: [1, 2] });
});

/** Numbers of transformers' get_rope_index for images of 2 x 3 and 1 x 2 features. */
test('positions on three axes are those of Python', () => {
  const { axes, shift } = ropePositions(17, [
    { start: 3, grid: [1, 2, 3] },
    { start: 12, grid: [1, 1, 2] },
  ]);
  expect(axes).toEqual([
    [0, 1, 2, 3, 3, 3, 3, 3, 3, 6, 7, 8, 9, 9, 11, 12, 13],
    [0, 1, 2, 3, 3, 3, 4, 4, 4, 6, 7, 8, 9, 9, 11, 12, 13],
    [0, 1, 2, 3, 4, 5, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13],
  ]);
  expect(shift).toBe(-3);
});

test('steps of a clip between words have places of their own', () => {
  const clip = { ...image(1, 4), grid: [2, 1, 2] as const };
  const { positions } = mediaPrompt({ ...TOKENS, positions: ropePositions }, [1, 9, 9, 2, 9, 9, 3], [clip]);
  expect(positions).toEqual({
    axes: [
      [0, 1, 1, 3, 4, 4, 6],
      [0, 1, 1, 3, 4, 4, 6],
      [0, 1, 2, 3, 4, 5, 6],
    ],
    shift: 0,
  });
});

test('what a template writes around a placeholder goes with it', () => {
  const around = { ...family, surrounded: '(<image>)', expand: () => '[<image>]' };
  const media = [medium(1, 1), medium(2, 1)];
  expect(expandMedia({ image: around }, 'a (<image>) b <image>', media).text).toBe('a [<image>] b [<image>]');
});
