import {
  createIdefics3Family,
  createSmolVlmFamily,
} from '../../../../../../runtime/engines/generation/prompts/media/idefics3.js';
import type { TextTokenizer } from '../../../../../../runtime/engines/tokenizers/tokenizer.js';

const family = (config: object = {}, tokenizer: object = {}, create = createIdefics3Family) =>
  create({
    config: { image_token_id: 7, vision_config: { patch_size: 8 }, ...config },
    processing: { size: { longest_edge: 64 }, max_image_size: { longest_edge: 32 } },
    processor: { image_seq_len: 2 },
    tokenizer: { tokenOf: () => '<image>', config: tokenizer } as unknown as TextTokenizer,
  });

test('a large image is written in lines of squares, with the whole image after a blank line', () => {
  const { layout, expand } = family();
  const found = layout({ height: 20, width: 64 });
  expect(found).toEqual({ count: 6, patches: 16, parts: { rows: 1, columns: 2 } });
  const around = '<fake_token_around_image>';
  expect(expand(found)).toBe(
    `${around}<row_1_col_1><image><image>${around}<row_1_col_2><image><image>\n` +
      `\n${around}<global-img><image><image>${around}`,
  );
});

test("SmolVLM's tokenizer may name the tokens around squares", () => {
  const named = { extra_special_tokens: { fake_image_token: '<a>', global_image_token: '<w>' } };
  const written = (create: typeof createSmolVlmFamily) =>
    family({}, named, create).expand({ count: 2, patches: 16 });
  expect(written(createSmolVlmFamily)).toBe('<a><w><image><image><a>');
  expect(written(createIdefics3Family)).toContain('<fake_token_around_image><global-img>');
});

test('no two runs share memory: it is handed over', () => {
  const image = { data: new Uint8Array(64 * 64 * 3), width: 64, height: 64, channels: 3 } as const;
  const runs = family()
    .prepare(image)
    .map((run) => run());
  const buffers = runs.flatMap((feeds) =>
    Object.values(feeds).map(({ data }) => (data as Uint8Array).buffer),
  );
  expect(runs).toHaveLength(5);
  expect(new Set(buffers).size).toBe(10);
});
