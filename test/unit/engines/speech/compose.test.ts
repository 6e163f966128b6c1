import ort from 'onnxruntime-node';
import type { Tensor } from 'onnxruntime-node';
import { mergeSettings } from '../../../../runtime/engines/generation/settings/settings.js';
import { composeCodes } from '../../../../runtime/engines/speech/musicgen/compose.js';
import { delayPattern } from '../../../../runtime/engines/speech/musicgen/delay-pattern.js';

const PAD = 8;
const states = new ort.Tensor('float32', Float32Array.of(1, 2, 3, 4), [1, 2, 2]) as Tensor;

const pattern = (codebooks: number, length: number) => {
  const isForced = delayPattern(codebooks, length);
  return Array.from({ length: codebooks }, (_, k) =>
    Array.from({ length }, (__, position) => (isForced(k, position) ? 'P' : '.')).join(''),
  );
};

test('codebooks begin late and end early by turns', () => {
  // The example of MusicgenForCausalLM.build_delay_pattern_mask.
  expect(pattern(4, 8)).toEqual(['P....PPP', 'PP....PP', 'PPP....P', 'PPPP....']);
  expect(pattern(2, 3)).toEqual(['P.P', 'PP.']);
  // Shorter than 2 * codebooks - 1: nothing is delayed.
  expect(pattern(4, 6)).toEqual(Array.from({ length: 4 }, () => 'P.....'));
});

function compose(request: Record<string, unknown>, signal = new AbortController().signal) {
  const seen: Record<string, Tensor>[] = [];
  const settings = mergeSettings({
    ...{ request, repository: {}, promptLength: 1, contextLength: undefined, hardLimit: false },
  });
  const codes = composeCodes(
    async (feeds) => {
      seen.push({ ...feeds });
      const rows = feeds['input_ids']!.dims[0]!;
      // Each row favours the code of its number; those without a text are the later ones.
      const scores = new Float32Array(rows * 4).map((_, i) => (i % 4 === Math.floor(i / 4) % 4 ? 1 : 0));
      return { logits: new ort.Tensor('float32', scores, [rows, 1, 4]) };
    },
    { states, settings, codebooks: 2, length: 1 + settings.maxNewTokens, pad: PAD, signal },
  );
  return { codes, seen };
}

test('padding is what the graph reads where the pattern forces it', async () => {
  const { codes, seen } = compose({ max_new_tokens: 4 });
  expect(await codes).toEqual([
    [0, 0, 0],
    [1, 1, 1],
  ]);
  const columns = seen.map(({ input_ids }) => Array.from(input_ids!.data as BigInt64Array, Number));
  expect(columns).toEqual([
    [PAD, PAD],
    [0, PAD],
    [0, 1],
    [0, 1],
  ]);
});

test('guidance moves away from rows without states and mask', async () => {
  const { codes, seen } = compose({ max_new_tokens: 4, guidance_scale: 3 });
  expect(await codes).toEqual([
    [0, 0, 0],
    [1, 1, 1],
  ]);
  const [first] = seen;
  expect(first!['input_ids']!.dims).toEqual([4, 1]);
  expect(Array.from(first!['encoder_attention_mask']!.data as BigInt64Array)).toEqual([1n, 1n, 0n, 0n]);
  expect(Array.from(first!['encoder_hidden_states']!.data as Float32Array)).toEqual([1, 2, 3, 4, 0, 0, 0, 0]);
});

test('a seed draws the same codes again', async () => {
  const draw = (seed: number) => compose({ max_new_tokens: 40, do_sample: true, temperature: 3, seed }).codes;
  expect(await draw(5)).toEqual(await draw(5));
  expect(await draw(5)).not.toEqual(await draw(6));
});

test('no step is made after a cancel', async () => {
  const leaving = new AbortController();
  leaving.abort(new Error('gone'));
  const { codes, seen } = compose({ max_new_tokens: 4 }, leaving.signal);
  await expect(codes).rejects.toThrow('gone');
  expect(seen).toEqual([]);
});
