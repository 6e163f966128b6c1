import { RunError } from '../../../core/errors.js';
import type { ExtractedAnswer, AnswerOptions, QuestionAnswerer } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { toLogits } from '../../sessions/tensors.js';
import { codePointsOf } from '../../tokenizers/code-points.js';
import type { PatientTokenizer } from '../../tokenizers/patient-tokenizer.js';
import type { OffsetEncoding } from '../../tokenizers/tokenizer.js';
import { bestSpans, type AnswerSpan, spanProbabilities } from './answer-spans.js';
import { strideExceedsRoom } from './encoder/input-limits.js';
import { mapInSlices } from '../../batching/row-slices.js';
import { openTextModel } from './encoder/text-encoder.js';
import { characterSpan } from './character-span.js';

/** Tokens of a window where nothing says otherwise. */
const WINDOW = 384;
/** Tokens that windows share where nothing says otherwise. */
const STRIDE = 128;
/** UTF-16 units of all the answers that one request may gather before the best are chosen. */
const LONGEST_ANSWERS = 2 ** 26;

/** *ForQuestionAnswering: start_logits and end_logits [1, tokens] over a question and a context. */
export async function loadQuestionAnswerer(request: LoadRequest): Promise<QuestionAnswerer> {
  const { tokenizer, encoder, limits } = await openTextModel(request, 'start_logits', 'end_logits');
  const limit = Math.min(limits.text, WINDOW);
  const { positions } = limits;
  const cls = tokenizer.namedId('cls_token');
  return {
    async answer({ question, context }, options, signal) {
      const { rows, sequence } = await windowsOf(tokenizer, { question, context, limit, options, signal });
      const gathered = gatherer(context, { ...options, sequence });
      const read = async (row: OffsetEncoding): Promise<Read> => {
        if (row.ids.length > positions) {
          throw new RunError('unprocessable', `params.max_seq_len: the model takes ${positions} tokens`);
        }
        const outputs = await encoder.forward(row, signal);
        // Where the context comes first, Python forbids no token.
        const free = sequence === 0;
        const allowed = row.ids.map((id, i) => free || id === cls || row.sequences[i] === sequence);
        const start = spanProbabilities(toLogits(outputs['start_logits']!), allowed);
        const end = spanProbabilities(toLogits(outputs['end_logits']!), allowed);
        const count = options.wholeWords ? options.topK * 2 + 10 : options.topK;
        const impossible = Math.fround(start[0]! * end[0]!);
        return {
          row,
          impossible,
          spans: bestSpans({ start, end, allowed, count, longest: options.maxAnswerLength }),
        };
      };
      for await (const found of mapInSlices(rows, read)) gathered.add(found);
      return gathered.best();
    },
  };
}

interface Windows {
  question: string;
  context: string;
  limit: number;
  options: AnswerOptions;
  signal: AbortSignal;
}

/** The question comes first, unless Python pads on the left; the context is what is cut into windows. */
async function windowsOf(
  tokenizer: PatientTokenizer,
  { question, context, limit, options, signal }: Windows,
) {
  const { maxLength = limit, stride = Math.min(Math.floor(maxLength / 2), STRIDE) } = options;
  if (stride > maxLength || strideExceedsRoom(tokenizer, stride, maxLength)) {
    throw new RunError(
      'invalid_input',
      `params.doc_stride: ${stride} is too much for windows of ${maxLength} tokens (max_seq_len)`,
    );
  }
  const first = tokenizer.paddingSide === 'right';
  const [a, b] = first ? [question, context] : [context, question];
  const tokenize = (text: string) => tokenizer.tokenize(text, { traces: true }, signal);
  const tokens = [await tokenize(a), await tokenize(b)] as const;
  const truncation = first ? ('only_second' as const) : ('only_first' as const);
  const rows = tokenizer.tracedRows(tokens, { maxLength, stride, truncation });
  return { rows, sequence: first ? (1 as const) : (0 as const) };
}

/** What one window says. */
interface Read {
  row: OffsetEncoding;
  spans: AnswerSpan[];
  /** Probability that there is no answer here. */
  impossible: number;
}

/** Adds up the scores of equal answers; each keeps the place where it was first found. */
function gatherer(context: string, options: AnswerOptions & { sequence: 0 | 1 }) {
  const { slice } = codePointsOf(context);
  const answers = new Map<string, ExtractedAnswer>();
  let [impossible, units] = [1_000_000, 0];
  return {
    add({ row, spans, impossible: here }: Read) {
      impossible = Math.min(impossible, here);
      for (const span of spans) {
        const [start, end] = characterSpan(row, span, options);
        const answer = slice(start, end);
        const key = answer.toLowerCase();
        const known = answers.get(key);
        if (known) known.score += span.score;
        else {
          answers.set(key, { score: span.score, start, end, answer });
          units += answer.length + 1;
        }
      }
      if (units > LONGEST_ANSWERS) {
        throw new RunError('unprocessable', 'params.top_k: too many answers to choose from; lower it');
      }
    },
    best(): ExtractedAnswer[] {
      const all = [...answers.values()];
      if (options.mayBeImpossible) all.push({ score: impossible, start: 0, end: 0, answer: '' });
      return all.sort((a, b) => b.score - a.score).slice(0, options.topK);
    },
  };
}
