import { findBase } from '../../../../../builder/plan/adapter/index.js';
import { folderSource } from '../../../../../runtime/store/folder.js';
import { folderWith } from '../../../store/folders.js';

const CONFIG = JSON.stringify({
  peft_type: 'LORA',
  base_model_name_or_path: 'org/base',
  r: 2,
  lora_alpha: 4,
});
const ADAPTER = { 'adapter_config.json': CONFIG, 'adapter_model.safetensors': 'adapter' };
const BASE = {
  'config.json': '{"of":"base"}',
  'model.safetensors': 'base',
  'onnx/model.onnx': 'base',
  'tokenizer.json': '{"of":"base"}',
  'tokenizer_config.json': '{}',
  'chat_template.jinja': 'base',
  LICENSE: 'base',
};

async function find(adapter: Record<string, string>, base: Record<string, string> = BASE) {
  const [source, bases] = [adapter, base].map((files) => folderSource(folderWith(files)));
  return findBase(source!, bases!, await source!.info('org/adapter'));
}

test('configuration, weights and tokenizer are the base’s; its exports are not served', async () => {
  const found = (await find({ ...ADAPTER, 'config.json': '{"of":"adapter"}', 'README.md': '# own' }))!;
  const { info, source, base } = found;
  const { ['onnx/model.onnx']: _, ...under } = BASE;
  expect(base).toMatchObject({ id: 'org/base', revision: 'main', files: Object.keys(under).sort() });
  expect(base.commit).not.toBe(info.commit);
  expect(info.files.map(({ path }) => path).sort()).toEqual(
    [...Object.keys(ADAPTER), ...Object.keys(under), 'README.md'].sort(),
  );
  expect(await source.readText(info, 'config.json')).toBe('{"of":"base"}');
  expect(await source.readText(info, 'README.md')).toBe('# own');
  const parts = ['model.safetensors', 'adapter_model.safetensors'].map(async (path) => {
    const file = info.files.find((one) => one.path === path)!;
    return (await source.read(info, file, { offset: 0, length: file.size })).toString();
  });
  expect(await Promise.all(parts)).toEqual(['base', 'adapter']);
});

test('a tokenizer is taken as a whole: the adapter’s where it has a vocabulary', async () => {
  const own = (await find({ ...ADAPTER, 'tokenizer.json': '{"of":"adapter"}' }))!;
  const names = own.info.files.map(({ path }) => path);
  expect(names).not.toContain('tokenizer_config.json');
  expect(names).not.toContain('chat_template.jinja');
  expect(await own.source.readText(own.info, 'tokenizer.json')).toBe('{"of":"adapter"}');
  const settings = (await find({ ...ADAPTER, 'tokenizer_config.json': '{"of":"adapter"}' }))!;
  expect(await settings.source.readText(settings.info, 'tokenizer_config.json')).toBe('{}');
});

test('models with an adapter beside them are models; an adapter of an adapter is refused', async () => {
  expect(await find({ ...ADAPTER, 'model.safetensors': 'x' })).toBeUndefined();
  expect(await find(BASE)).toBeUndefined();
  await expect(find(ADAPTER, ADAPTER)).rejects.toThrow(/of org\/base, which is an adapter, too; merge them/);
});
