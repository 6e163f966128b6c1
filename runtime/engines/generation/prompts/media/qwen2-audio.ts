import { RunError } from '../../../../core/errors.js';
import { createWhisperExtractor } from '../../../processors/audio/whisper.js';
import type { FamilyFiles, AudioFamily } from './family.js';
import { audioToken } from './audio-token.js';

/** Around the tokens of an audio clip: Qwen2AudioProcessor's defaults. */
const [BEFORE, AFTER] = ['<|audio_bos|>', '<|audio_eos|>'];

/** What the processor writes for a conversation without a template of its own: audio clips are counted. */
const TEMPLATE = `{%- set sounds = namespace(count=0) -%}
{%- for message in messages -%}
{%- if loop.first and message['role'] != 'system' -%}{{- '<|im_start|>system\\nYou are a helpful assistant.<|im_end|>\\n' -}}{%- endif -%}
{{- '<|im_start|>' + message['role'] + '\\n' -}}
{%- if message['content'] is string -%}{{- message['content'] -}}{%- else -%}
{%- for block in message['content'] -%}
{%- if block['type'] == 'audio' -%}{%- set sounds.count = sounds.count + 1 -%}
{{- 'Audio ' + (sounds.count | string) + ': <|audio_bos|><|AUDIO|><|audio_eos|>\\n' -}}
{%- elif block['type'] == 'text' -%}{{- block['text'] -}}{%- endif -%}
{%- endfor -%}{%- endif -%}
{{- '<|im_end|>\\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}`;

/** Qwen2-Audio: one window of 30 seconds of each audio clip, with tokens for what it is long. */
export function createQwen2AudioFamily(files: FamilyFiles): AudioFamily {
  const token = audioToken(files, '<|AUDIO|>');
  requireSameToken(files, token.tokenId);
  const extractor = createWhisperExtractor(files.processing);
  const { windowSamples, windowFrames, filters, hop } = extractor;
  // Python's extractor cuts off what is longer than a window.
  const stepsOf = (samples: number) => Math.ceil(Math.ceil(Math.min(samples, windowSamples) / hop) / 2);
  return {
    ...{ ...token, template: TEMPLATE.replace('<|AUDIO|>', token.placeholder), rate: extractor.rate },
    surrounded: `${BEFORE}${token.placeholder}${AFTER}`,
    mostPatches: Math.ceil(windowFrames / 2),
    layout(samples) {
      const patches = stepsOf(samples);
      const count = Math.floor(patches / 2);
      if (count > 0) return { patches, count };
      throw new RunError('unprocessable', 'the audio is too short: it has no whole step');
    },
    async prepare(samples, signal) {
      const { values, frames } = await extractor.whole(samples, windowSamples, signal);
      const count = BigInt64Array.of(BigInt(stepsOf(samples.length)));
      return [
        () => ({
          input_features: { type: 'float32', data: values, dims: [1, filters, frames] },
          step_count: { type: 'int64', data: count, dims: [1] },
        }),
      ];
    },
    expand: ({ count }) => `${BEFORE}${token.placeholder.repeat(count)}${AFTER}`,
  };
}

/** @throws RunError not_ready where the network reads audio clips at another token than the processor writes */
function requireSameToken({ config }: FamilyFiles, written: number): void {
  const read = config['audio_token_id'] ?? config['audio_token_index'];
  if (read === undefined || read === written) return;
  throw new RunError('not_ready', `config.json: audio_token_index is not the token <|AUDIO|> (${written})`);
}
