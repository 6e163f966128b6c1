/**
 * Where the numbers of weights lie in files of safetensors and ONNX. What can't be read has no tensors: packs keep its
 * bytes as they are.
 */

/** @typedef {{ at: number, bytes: number, width: 2 | 4, type?: 'single' | 'half', dims: number[] }} Place numbers of a tensor */

const WIDTHS = { F32: 4, F16: 2, BF16: 2 };
/** Those whose draws can be found. */
const TYPES = { F32: 'single', F16: 'half' };

/** ONNX data types: float32, float16, bfloat16. */
const ONNX_WIDTHS = { 1: 4, 10: 2, 16: 2 };
const ONNX_TYPES = { 1: 'single', 10: 'half' };

/** Fields of ONNX messages that lead to tensors: model, graph, node, attribute. */
const LEADING = { model: { 7: 'graph' }, graph: { 1: 'node', 5: 'tensor' }, node: { 5: 'attribute' } };
LEADING.attribute = { 5: 'tensor', 6: 'graph', 10: 'tensor', 11: 'graph' };

/** Less than this is not worth a line in a pack. */
const FEWEST_BYTES = 512;

/** @returns {Place[]} in the order of the file */
export function tensorsOf(name, content) {
  if (name.endsWith('.safetensors')) return large(safetensors(content));
  if (name.endsWith('.onnx')) return large(onnx(content));
  return [];
}

const large = (places) => places.filter(({ bytes }) => bytes >= FEWEST_BYTES).sort((a, b) => a.at - b.at);

function safetensors(content) {
  const start = 8 + Number(content.readBigUInt64LE(0));
  const { __metadata__: _, ...tensors } = JSON.parse(content.toString('utf8', 8, start));
  return Object.values(tensors)
    .filter(({ dtype }) => WIDTHS[dtype])
    .map(({ dtype, shape: dims, data_offsets: [from, to] }) => {
      return { at: start + from, bytes: to - from, width: WIDTHS[dtype], type: TYPES[dtype], dims };
    });
}

function onnx(content) {
  const places = [];
  const visit = (kind, from, to) => {
    for (const field of fields(content, from, to)) {
      const next = LEADING[kind][field.number];
      if (next === 'tensor') places.push(...tensor(content, field));
      else if (next) visit(next, field.from, field.to);
    }
  };
  visit('model', 0, content.length);
  return places;
}

function tensor(content, { from, to }) {
  const parts = [...fields(content, from, to)];
  const type = parts.find(({ number }) => number === 2)?.value;
  const data = parts.find(({ number }) => number === 9);
  const width = ONNX_WIDTHS[type];
  if (!width || !data) return [];
  const dims = parts.filter(({ number }) => number === 1).flatMap((field) => dimsOf(content, field));
  return [{ at: data.from, bytes: data.to - data.from, width, type: ONNX_TYPES[type], dims }];
}

/** One whole number, or several in one field. */
function dimsOf(content, { value, from, to }) {
  if (value !== undefined) return [value];
  const dims = [];
  for (let at = from; at < to;) {
    const [dim, next] = varint(content, at);
    dims.push(dim);
    at = next;
  }
  return dims;
}

/** The fields of a message of protocol buffers. */
function* fields(content, from, to) {
  let at = from;
  while (at < to) {
    const [tag, start] = varint(content, at);
    const number = tag >>> 3;
    const kind = tag & 7;
    const [value, after] = kind === 0 || kind === 2 ? varint(content, start) : [0, start];
    if (kind === 0) yield { number, value, from: start, to: after };
    if (kind === 2) yield { number, from: after, to: after + value };
    at = after + { 0: 0, 1: 8, 2: value, 5: 4 }[kind];
    if (!(at <= to)) throw new Error(`a message at byte ${from} is no protocol buffer`);
  }
}

function varint(content, start) {
  let value = 0;
  for (let at = start, factor = 1; ; at++, factor *= 128) {
    const byte = content[at];
    value += (byte & 127) * factor;
    if (byte < 128) return [value, at + 1];
    if (at - start >= 10 || byte === undefined) throw new Error(`no whole number at byte ${start}`);
  }
}
