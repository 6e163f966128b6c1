import { sourceDecoderRoles } from '../../bases/encoder-decoder/encoder-decoder-heads.js';
import { defineFamily } from '../../family.js';
import { named } from '../../inert-fields.js';
import { SPEECHT5_PARTS, type SpeechT5Config, speecht5Config } from './config.js';
import { encodeSpeech, encodeText } from './encoder.js';
import { writePostnet, writeStep } from './speech-decoder.js';
import { textDecoder } from './text-decoder.js';

/** modeling_speecht5.py: one network, with other ends for what is read and what is made. */
export const speecht5 = defineFamily({
  modelTypes: ['speecht5'],
  inert: [
    {
      fields: named('max_speech_positions', 'max_text_positions'),
      reason: 'the server reads them: longer texts and speech are refused',
    },
  ],
  readers: { audio: 'speecht5', extractor: 'SpeechT5', positions: 'distance' },
  usualTask: 'text-to-speech',
  config: speecht5Config,
  prefixes: ['speecht5.'],
  parts: SPEECHT5_PARTS,
  networksBeside: { speech: [{ folder: 'vocoder', usual: 'microsoft/speecht5_hifigan' }] },
  heads: {
    'speech-seq2seq': {
      encoder_model: (g, c: SpeechT5Config) =>
        g.output('last_hidden_state', encodeSpeech(g, c), 'float32', ['rows', 'steps', c.hidden_size]),
      ...sourceDecoderRoles(textDecoder),
    },
    speech: {
      encoder_model: (g, c: SpeechT5Config) =>
        g.output('encoder_outputs', encodeText(g, c), 'float32', ['rows', 'tokens', c.hidden_size]),
      decoder_model: writeStep(true),
      decoder_with_past_model: writeStep(false),
      postnet: writePostnet,
    },
  },
});
