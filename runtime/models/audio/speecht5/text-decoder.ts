import { sinesBehindPadding } from '../../bases/encoder-decoder/positions.js';
import type { SourceDecoder } from '../../layers/cross-decoder.js';
import { headWidth } from '../../layers/head-sizes.js';
import { lookedUp, tableScores } from '../../layers/linear.js';
import type { SpeechT5Config } from './config.js';
import { decoderLayers, sourcePair } from './decoder.js';

const TABLE = 'speecht5.decoder.prenet.embed_tokens.weight';

/** Writes what is said. */
export function textDecoder(c: SpeechT5Config): SourceDecoder {
  const { vocab_size: rows, hidden_size: width, decoder_attention_heads: heads } = c;
  const positions = sinesBehindPadding(width, c.pad_token_id);
  return {
    ...{ width, vocabulary: rows, decoderLayers: c.decoder_layers },
    ...{ heads, headWidth: headWidth(width, heads) },
    projectSource: (g, layer, states) => sourcePair(g, layer, states, c),
    decode(g, ids, state) {
      const found = lookedUp(g, ids, TABLE, { rows, width });
      const tokens = c.scale_embedding ? g.node('Mul', [found, g.scalar(Math.sqrt(width))]) : found;
      const placed = g.node('Add', [tokens, positions(g, ids, 'decoder', state.positions)]);
      return decoderLayers(g, placed, c, state);
    },
    scores: (g, x) =>
      tableScores(
        g,
        x,
        { own: 'text_decoder_postnet.lm_head.weight', tied: TABLE },
        {
          ...{ rows, width, tie: c.tie_word_embeddings },
        },
      ),
  };
}
