import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Head } from '../../runtime/core/handles/index.js';
import { parsePythonJson } from '../../runtime/core/python-json.js';
import { LARGEST_GRAPH } from '../../runtime/core/spec.js';
import { GraphError } from '../../runtime/models/writer/errors.js';
import { packedStorage } from '../../runtime/models/writer/storage.js';
import { writeGraphs } from '../../runtime/models/write-graphs.js';
import { readWeightIndex, type WeightIndex } from '../../runtime/weights/index.js';
import { graphModel, graphModels } from '../fakes/drawn-weights.js';
import { randomOf } from './random.js';
import { again, MOST_ROUNDS, networkSeeds, ROUNDS } from './seeds.js';
import { readFiles, sourceOf } from '../unit/weights/support.js';
import { changedConfig, changedIndex, type Config } from '../unit/graphs/changes.js';
import { expectValid } from '../unit/graphs/valid-graph.js';

const FIXTURES = join(import.meta.dirname, '../fixtures');

interface Given {
  config: Config;
  index: WeightIndex;
  head: Head;
}

const json = (dir: string, file: string): Config => parsePythonJson(readFileSync(join(dir, file), 'utf8'));

async function givenOf({ dir, head }: Network): Promise<Given> {
  const index = await readWeightIndex(sourceOf(readFiles(dir)).source);
  return { config: json(dir, 'config.json'), index, head };
}

/** The refusal's message, or undefined for valid graphs; anything else fails the test. */
function attempt(given: Given, bits: 4 | 8 | undefined): string | undefined {
  let written;
  try {
    written = writeGraphs({ ...given, storage: bits && packedStorage('packed.bin', bits) });
  } catch (error) {
    if (!(error instanceof GraphError)) throw error;
    return error.message;
  }
  for (const bytes of Object.values(written.graphs)) {
    expect(bytes.length).toBeLessThanOrEqual(LARGEST_GRAPH);
    expectValid(bytes, given.index, bits ? ['packed.bin'] : undefined);
  }
  return undefined;
}

/** What a refusal says: where the trouble lies, in a short line, and no size that is none. */
function expectNamed(message: string): void {
  expect(message).toMatch(/config\.json|the weights lack|is stored as|no graph can be written/);
  expect(message).not.toMatch(/\[[^\]]*(?:\d\.\d|NaN|undefined|object O)|\p{Cc}/u);
  expect(message.length).toBeLessThan(500);
}

/** Where the cause is, if something fails. */
function inRound(seed: number, what: unknown, run: () => void): void {
  try {
    run();
  } catch (cause) {
    throw new Error(
      `${again(seed)} hostile-configs: ${JSON.stringify(what).slice(0, 300)}: ${String(cause)}`,
      { cause },
    );
  }
}

interface Network {
  name: string;
  dir: string;
  head: Head;
}

/** What other tools have packed is no checkpoint of graphs before the builder has read how. */
const isPacked = ({ dir }: Network): boolean => 'quantization_config' in json(dir, 'config.json');

const inFolder = (folder: string): string[] => readdirSync(join(FIXTURES, folder)).sort();

const alone: Network[] = graphModels().map((name) => {
  const dir = graphModel(name);
  return { name, dir, head: json(dir, 'cases.json')['head'] as Head };
});

const chats: Network[] = ['image', 'audio', 'video'].flatMap((kind) => {
  const folder = `zoo-weights/${kind}-text-to-text`;
  return inFolder(folder).map((name) => {
    return {
      name: `${folder}/${name}`,
      dir: join(FIXTURES, folder, name, 'repo'),
      head: 'media-chat' as const,
    };
  });
});

/** Families that transformers 5 alone has. */
const NEWER: readonly (readonly [name: string, head: Head])[] = [
  ['text-generation/glm4-moe-lite', 'causal-lm'],
  ['text-generation/lfm2-moe', 'causal-lm'],
  ['text-generation/minimax-m2', 'causal-lm'],
  ['text-generation/ministral3', 'causal-lm'],
  ['text-generation/modernbert-decoder', 'causal-lm'],
  ['fill-mask/eurobert-mlm', 'masked-lm'],
  ['sentence-similarity/nomic-bert-st', 'embedding'],
  ['text-classification/gte-classifier', 'sequence-classification'],
  ['feature-extraction/gte-makers', 'embedding'],
  ['fill-mask/jina-v3-mask', 'masked-lm'],
  ['object-detection/rf-detr', 'object-detection'],
  ['image-segmentation/rf-detr-masks', 'image-segmentation'],
  ['zero-shot-image-classification/siglip2-naflex', 'image-text-matching'],
  ['image-feature-extraction/siglip2-naflex-vision', 'image-features'],
  ['audio-text-to-text/qwen3-asr', 'media-chat'],
  ['audio-text-to-text/glmasr', 'media-chat'],
  ['automatic-speech-recognition/moonshine-streaming', 'speech-seq2seq'],
  ['audio-text-to-text/fun-asr-nano', 'media-chat'],
  ['audio-text-to-text/granite-speech', 'media-chat'],
  ['audio-text-to-text/granite-speech-plus', 'media-chat'],
  ['image-text-to-text/paddleocr-vl', 'media-chat'],
  ['image-text-to-text/lighton-ocr', 'media-chat'],
  ['image-text-to-text/glm4v', 'media-chat'],
  ['image-text-to-text/glm46v', 'media-chat'],
  ['image-text-to-text/glm4v-moe', 'media-chat'],
  ['image-text-to-text/glm-ocr', 'media-chat'],
  ['image-text-to-text/cohere2-vision', 'media-chat'],
  ['image-text-to-text/vipllava', 'media-chat'],
  ['image-text-to-text/llava-next-video', 'media-chat'],
  ['image-text-to-text/video-llava', 'media-chat'],
  ['image-text-to-text/got-ocr2', 'media-chat'],
  ['image-text-to-text/pp-chart2table', 'media-chat'],
  ['image-text-to-text/mllama', 'media-chat'],
  ['image-text-to-text/janus', 'media-chat'],
  ['image-text-to-text/hunyuan-vl', 'media-chat'],
  ['image-text-to-text/minicpm-v4-6', 'media-chat'],
  ['image-text-to-text/minicpm-ocr', 'media-chat'],
  ['image-text-to-text/cosmos3-omni', 'media-chat'],
  ['image-text-to-text/cosmos3-edge', 'media-chat'],
  ['image-text-to-text/glmga', 'media-chat'],
  ['image-text-to-text/blip-2', 'media-chat'],
  ['image-text-to-text/instructblip', 'media-chat'],
  ['image-text-to-text/qianfan-ocr', 'media-chat'],
  ['image-text-to-text/exaone4-5', 'media-chat'],
  ['image-text-to-text/hyperclovax-vision', 'media-chat'],
  ['image-text-to-text/video-llama-3', 'media-chat'],
  ['image-text-to-text/ovis2', 'media-chat'],
  ['image-text-to-text/lfm2-vl', 'media-chat'],
  ['image-text-to-text/gemma4', 'media-chat'],
  ['image-text-to-text/llama4-vl', 'media-chat'],
  ['image-text-to-text/qwen3_5-vl', 'media-chat'],
  ['image-text-to-text/qwen3_5-moe-vl', 'media-chat'],
  ['text-generation/gemma4-text', 'causal-lm'],
  ['text-generation/qwen3-next', 'causal-lm'],
  ['text-generation/qwen3_5-moe', 'causal-lm'],
  ['text-generation/granite-swa', 'causal-lm'],
  ['text-generation/granite-moe-swa', 'causal-lm'],
  ['text-generation/exaone-moe', 'causal-lm'],
  ['text-generation/afmoe', 'causal-lm'],
  ['text-generation/hy-v3', 'causal-lm'],
  ['text-generation/mistral4', 'causal-lm'],
  ['text-generation/olmo-hybrid', 'causal-lm'],
  ['text-generation/nemotron-h', 'causal-lm'],
  ['text-generation/llama4-text', 'causal-lm'],
  ['text-generation/kimi-linear', 'causal-lm'],
  ['chat/qwen3_5-text', 'causal-lm'],
  ['automatic-speech-recognition/parakeet-ctc', 'ctc'],
  ['automatic-speech-recognition/parakeet-tdt', 'ctc'],
  ['automatic-speech-recognition/lasr-ctc', 'ctc'],
  ['automatic-speech-recognition/granite-speech5-ctc', 'ctc'],
  ['automatic-speech-recognition/omniasr-ctc', 'ctc'],
  ['automatic-speech-recognition/cohere-asr', 'speech-seq2seq'],
  ['automatic-speech-recognition/canary', 'speech-seq2seq'],
  ['automatic-speech-recognition/parakeet-rnnt', 'ctc'],
  ['depth-estimation/chmv2', 'depth-estimation'],
  ['image-segmentation/sapiens2', 'image-segmentation'],
];
const newer: Network[] = NEWER.map(([name, head]) => {
  return { name: `zoo-v5/${name}`, dir: join(FIXTURES, 'zoo-v5', name, 'repo'), head };
});

const NETWORKS = [...alone.filter((network) => !isPacked(network)), ...chats, ...newer];

describe.each(NETWORKS)('$name', (network) => {
  test('changed configurations and checkpoints give valid graphs or say what is wrong', async () => {
    const given = await givenOf(network);
    const found = { graphs: 0, refused: 0 };
    let rounds = 0;
    for (const seed of networkSeeds(NETWORKS.indexOf(network))) {
      // Changes reach both ends: neither is all of them.
      const isEnough = rounds >= ROUNDS && found.graphs > 0 && found.refused > 0;
      if (isEnough || rounds++ === MOST_ROUNDS) break;
      const random = randomOf(seed);
      const { config, changes } = random.chance(0.85)
        ? changedConfig(given.config, random)
        : { config: given.config, changes: [] };
      const index = random.chance(0.2) ? changedIndex(given.index, random) : given.index;
      inRound(seed, changes, () => {
        const message = attempt(
          { ...given, config, index },
          random.pick([undefined, undefined, 4, 8] as const),
        );
        if (message === undefined) found.graphs++;
        else expectNamed(message);
        if (message !== undefined) found.refused++;
      });
    }
    if (rounds < ROUNDS) return;
    expect(found.graphs).toBeGreaterThan(0);
    expect(found.refused).toBeGreaterThan(0);
  });

  test('a tensor that is missing, or of another shape or type, is named', async () => {
    const given = await givenOf(network);
    const { used } = writeGraphs(given);
    const tensor = used[Math.floor(used.length / 2)]!;
    const stored = given.index.get(tensor)!;
    const write = (other: typeof stored) => () =>
      writeGraphs({ ...given, index: new Map([...given.index, [tensor, other]]) });
    expect(write({ ...stored, shape: [...stored.shape, 1] })).toThrow(`${tensor} is [`);
    for (const type of ['I64', 'constructor', '__proto__', 'F8_E4M3'])
      expect(write({ ...stored, type })).toThrow(new GraphError(`${tensor} is stored as ${type}`));
  });
});
