import type { ModelInfo, RepoFile } from '../../runtime/core/spec.js';
import type { ModelSource } from '../../runtime/store/source.js';
import { Refusal } from './refusal.js';

/** Of UTF-8, as bytes and as the character that they decode to. */
const [MARK_BYTES, MARK] = [Buffer.from([0xef, 0xbb, 0xbf]), '\uFEFF'];

/** Files that transformers does not read where there is a tokenizer.json. */
const UNREAD = new Set(['special_tokens_map.json', 'added_tokens.json']);

/**
 * Python's libraries read their JSON files as UTF-8 and refuse a byte order mark in each, and so does the server.
 * @throws Refusal that names the file
 */
export function refuseMark(path: string, text: string): void {
  if (text.startsWith(MARK)) throw marked(path);
}

function marked(path: string): Refusal {
  return new Refusal(
    `${path} of the repository begins with a byte order mark, which Python's json refuses, too`,
    'save the file as UTF-8 without it',
  );
}

/**
 * Looks at the beginnings of JSON files that a server will read and the plan does not parse.
 * @throws Refusal for one with a byte order mark; StoreError when the source fails
 */
export async function refuseMarkedFiles(
  source: Pick<ModelSource, 'read'>,
  info: ModelInfo,
  files: readonly RepoFile[],
): Promise<void> {
  const hasTokenizer = info.files.some(({ path }) => path === 'tokenizer.json');
  const listed = new Map(info.files.map((file) => [file.path, file]));
  const looked = files.flatMap(({ path }) => {
    const file = path.endsWith('.json') && !(hasTokenizer && UNREAD.has(path)) && listed.get(path);
    return file && file.size >= MARK_BYTES.length ? [file] : [];
  });
  const begin = { offset: 0, length: MARK_BYTES.length };
  const heads = await Promise.all(looked.map((file) => source.read(info, file, begin)));
  heads.forEach((head, i) => {
    if (MARK_BYTES.equals(head)) throw marked(looked[i]!.path);
  });
}

/**
 * Everything begins with config.json, or with model_index.json in pipelines of diffusers.
 * @throws Refusal for a repository that has neither
 */
export function requireConfig({ id, files, folder }: Pick<ModelInfo, 'id' | 'files' | 'folder'>): void {
  const has = (name: string) => files.some(({ path }) => path === name);
  if (has('config.json') || has('model_index.json')) return;
  const voice = files.find(({ path }) => path.endsWith('.onnx') && has(`${path}.json`));
  if (voice)
    throw new Refusal(
      `${id} is a voice of Piper (${voice.path} with its .onnx.json), which reads phonemes of espeak-ng; that is in no image`,
      'take a text-to-speech model of transformers (VITS, SpeechT5)',
    );
  throw new Refusal(
    `${id} has no config.json, so nobody knows what network its weights are of`,
    folder === undefined
      ? 'the upload is incomplete, or the repository is not made for transformers: take another revision, or put the file beside ' +
          'the others and give the folder with --from'
      : `put that of the model into ${folder}; what is not made for transformers has none and is not served`,
  );
}
