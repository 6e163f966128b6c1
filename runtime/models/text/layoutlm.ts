import * as z from 'zod';
import { defineFamily } from '../family.js';
import { embedding } from '../layers/linear.js';
import { layerNorm } from '../layers/norm.js';
import { spanOutputs } from '../bases/encoder/encoder-heads.js';
import { positionsOf, textInputs } from '../layers/text-inputs.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { size } from '../config-fields.js';
import { BERT_NAMES, bertLayer, OLDER_NORMS } from '../bases/encoder/bert-layer.js';
import { bertConfig, bertSizes } from '../bases/encoder/bert-config.js';

const config = z.object({
  ...bertConfig,
  vocab_size: size.default(30_522),
  max_2d_position_embeddings: size.default(1024),
  position_embedding_type: z.literal('absolute').default('absolute'),
});
type Config = z.output<typeof config>;

/** Edges of a box: left, top, right, bottom. */
const EDGES = 4;

/** `bbox` int64 [rows, tokens, 4] -> its edges, then its height and its width, [rows, tokens] each. */
function boxParts(g: GraphWriter): Value[] {
  const boxes = g.input('bbox', 'int64', ['rows', 'tokens', EDGES]);
  const edges = Array.from({ length: EDGES }, (_, i) =>
    g.node('Gather', [boxes, g.ints([i], [])], { axis: 2 }),
  ) as [Value, Value, Value, Value];
  const [left, top, right, bottom] = edges;
  return [...edges, g.node('Sub', [bottom, top]), g.node('Sub', [right, left])];
}

/** Tables that the parts of a box are looked up in. */
const TABLES = ['x', 'y', 'x', 'y', 'h', 'w'];

function statesOf(g: GraphWriter, c: Config): Value {
  const { ids, types, padding } = textInputs(g, { types: true });
  const { width, epsilon } = bertSizes(c);
  const table = (of: Value, name: string, rows: number) =>
    embedding(g, of, `layoutlm.embeddings.${name}_embeddings`, { rows, width });
  const place = g.node('Unsqueeze', [positionsOf(g, ids), g.ints([0])]);
  const vectors = [
    table(ids, 'word', c.vocab_size),
    table(place, 'position', c.max_position_embeddings),
    ...boxParts(g).map((part, i) => table(part, `${TABLES[i]!}_position`, c.max_2d_position_embeddings)),
    table(types, 'token_type', c.type_vocab_size),
  ];
  const sum = vectors.reduce((all, one) => g.node('Add', [all, one]));
  let x = layerNorm(g, sum, 'layoutlm.embeddings.LayerNorm', { width, epsilon });
  for (let i = 0; i < c.num_hidden_layers; i++) {
    const at = (part: string) => `layoutlm.encoder.layer.${i}.${part}`;
    x = bertLayer(g, x, { ...bertSizes(c), names: BERT_NAMES, at, padding });
  }
  return x;
}

/** BERT over the words of a page and where they stand. modeling_layoutlm.py */
export const layoutlm = defineFamily({
  modelTypes: ['layoutlm'],
  readers: { boxes: 'layoutlm' },
  config,
  prefixes: ['layoutlm.'],
  older: OLDER_NORMS,
  heads: {
    'document-reading': {
      model: (g, c: Config) => spanOutputs(g, statesOf(g, c), { name: 'qa_outputs', width: c.hidden_size }),
    },
  },
});
