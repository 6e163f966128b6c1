import { setImmediate as nextTurn } from 'node:timers/promises';
import { RunError } from '../../../core/errors.js';
import type { DocumentReader, DocumentSpan, SpanOptions, WordBox } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { mapInSlices } from '../../batching/row-slices.js';
import { toLogits } from '../../sessions/tensors.js';
import type { PatientTokenizer } from '../../tokenizers/patient-tokenizer.js';
import type { OffsetEncoding, TokenizedText } from '../../tokenizers/tokenizer.js';
import { bestSpans, spanProbabilities } from './answer-spans.js';
import { checkBoxes, createBoxPlacer } from './document-boxes.js';
import type { EncoderRow } from './encoder/row-tensors.js';
import { strideExceedsRoom } from './encoder/input-limits.js';
import { readersIn } from '../../repository/named-readers.js';
import { openTextModel, type TextModel } from './encoder/text-encoder.js';

/** Tokens that windows share where nothing says otherwise: half a window, at most this many. */
const STRIDE = 256;

/** Milliseconds that other work waits at most. */
const TURN_MS = 10;

/** LayoutLM: start_logits and end_logits [1, tokens] over a question and the words of a page with their boxes. */
export async function loadDocumentReader(request: LoadRequest): Promise<DocumentReader> {
  const model = await openTextModel(request, 'start_logits', 'end_logits');
  const { tokenizer, config } = model;
  const { boxes } = readersIn(request);
  const boxesOf = createBoxPlacer(tokenizer, boxes);
  return {
    async read({ question, words }, options, signal) {
      checkBoxes(words, config, boxes);
      const [asked, page] = [
        await tokenizeWords(tokenizer, question, signal),
        await tokenizeWords(
          tokenizer,
          words.map(({ word }) => word),
          signal,
        ),
      ];
      const windows = windowsOf(model, { asked, page, options });
      const read = (row: OffsetEncoding) =>
        readWindow(model, { ...row, boxes: boxesOf(row, words) }, { words, options, signal });
      const found: DocumentSpan[] = [];
      let impossible = 1_000_000;
      for await (const window of mapInSlices(windows, read)) {
        found.push(...window.spans);
        impossible = Math.min(impossible, window.impossible);
      }
      if (options.mayBeImpossible) found.push({ score: impossible, answer: '', start: 0, end: 0 });
      return found.sort((a, b) => b.score - a.score).slice(0, options.topK);
    },
  };
}

/** Tokens of words, each tokenised by itself; a token's word is its number in the list. */
async function tokenizeWords(
  tokenizer: PatientTokenizer,
  words: readonly string[],
  signal: AbortSignal,
): Promise<TokenizedText> {
  const ids: number[] = [];
  const traces = { starts: [], ends: [], words: [], looks: [] } as NonNullable<TokenizedText['traces']>;
  let pause = Date.now() + TURN_MS;
  for (const [number, word] of words.entries()) {
    const found = await tokenizer.tokenize(word, { traces: true }, signal);
    found.ids.forEach((id, i) => {
      ids.push(id);
      traces.starts.push(found.traces!.starts[i]!);
      traces.ends.push(found.traces!.ends[i]!);
      traces.words.push(number);
      traces.looks.push(found.traces!.looks[i]!);
    });
    if (Date.now() < pause) continue;
    await nextTurn();
    signal.throwIfAborted();
    pause = Date.now() + TURN_MS;
  }
  return { ids, traces };
}

interface Page {
  asked: TokenizedText;
  page: TokenizedText;
  options: SpanOptions;
}

/** The question stands in every window; the page is what is cut. */
function windowsOf({ tokenizer, limits }: TextModel, { asked, page, options }: Page) {
  const { maxLength = limits.text, stride = Math.min(Math.floor(maxLength / 2), STRIDE) } = options;
  if (maxLength > limits.positions) {
    throw new RunError('unprocessable', `params.max_seq_len: the model takes ${limits.positions} tokens`);
  }
  if (stride > maxLength || strideExceedsRoom(tokenizer, stride, maxLength)) {
    throw new RunError(
      'invalid_input',
      `params.doc_stride: ${stride} is too much for windows of ${maxLength} tokens (max_seq_len)`,
    );
  }
  return tokenizer.tracedRows([asked, page], { maxLength, stride, truncation: 'only_second' });
}

interface Reading {
  words: readonly WordBox[];
  options: SpanOptions;
  signal: AbortSignal;
}

async function readWindow(
  { tokenizer, encoder }: TextModel,
  row: OffsetEncoding & EncoderRow,
  { words, options, signal }: Reading,
) {
  const outputs = await encoder.forward(row, signal);
  const cls = tokenizer.namedId('cls_token');
  const allowed = row.ids.map((id, i) => id === cls || row.sequences[i] === 1);
  const start = spanProbabilities(toLogits(outputs['start_logits']!), allowed);
  const end = spanProbabilities(toLogits(outputs['end_logits']!), allowed);
  const best = bestSpans({
    ...{ start, end, allowed },
    ...{ count: options.topK, longest: options.maxAnswerLength },
  });
  const spans = best.flatMap(({ from, to, score }): DocumentSpan[] => {
    const [first, last] = [row.words[from], row.words[to]];
    if (first === undefined || last === undefined) return [];
    const answer = words.slice(first, last + 1).map(({ word }) => word);
    return [{ score, answer: answer.join(' '), start: first, end: last }];
  });
  return { spans, impossible: Math.fround(start[0]! * end[0]!) };
}
