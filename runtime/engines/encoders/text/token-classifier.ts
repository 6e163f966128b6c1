import { RunError } from '../../../core/errors.js';
import type { Entity, TagOptions, TokenClassifier } from '../../../core/handles/index.js';
import type { LoadRequest } from '../../../core/load-request.js';
import { codePointsOf } from '../../tokenizers/code-points.js';
import type { TokenizerFacts } from '../../tokenizers/patient-tokenizer.js';
import type { OffsetEncoding } from '../../tokenizers/tokenizer.js';
import { aggregate, type TaggedToken, withoutOverlaps } from './entities.js';
import { labelsOf } from '../../repository/labels.js';
import { strideExceedsRoom } from './encoder/input-limits.js';
import { mapInSlices } from '../../batching/row-slices.js';
import { padToLength } from './encoder/pad-row.js';
import { openTextModel } from './encoder/text-encoder.js';
import { vectorAt } from './vector-at.js';
import { probabilities } from '../probabilities.js';

/** *ForTokenClassification: logits [1, tokens, labels]. */
export async function loadTokenClassifier(request: LoadRequest): Promise<TokenClassifier> {
  const { config, tokenizer, encoder, limits } = await openTextModel(request, 'logits');
  const maxLength = limits.text;
  return {
    async tag(text, options, signal) {
      const tokens = await tokenizer.tokenize(text, { traces: true }, signal);
      checkStride(tokenizer, options, maxLength);
      const describe = describer(tokenizer, text);
      const found: Entity[] = [];
      let [windows, longest] = [0, 0];
      const tagged = async (row: OffsetEncoding) => {
        longest ||= row.ids.length;
        // Python pads the last window, which some models see, and counts positions with the padding.
        const whole = padToLength(tokenizer, row, longest);
        const padding = tokenizer.paddingSide === 'left' ? whole.ids.length - row.ids.length : 0;
        const logits = (await encoder.forward(whole, signal))['logits']!;
        const labels = labelsOf(config, logits.dims[2]!);
        const tokens = describe(row).map((token) => ({
          ...token,
          index: token.index + padding,
          scores: probabilities(vectorAt(logits, token.index + padding)),
        }));
        return aggregate(tokens, { labels, aggregation: options.aggregation, join: tokenizer.join });
      };
      const rows = tokenizer.tracedRows([tokens], { maxLength, stride: options.stride });
      for await (const entities of mapInSlices(rows, tagged)) {
        windows++;
        for (const entity of entities) if (!options.ignoreLabels.includes(entity.label)) found.push(entity);
      }
      return windows > 1 ? withoutOverlaps(found) : found;
    },
  };
}

function checkStride(tokenizer: TokenizerFacts, { stride }: TagOptions, maxLength: number): void {
  if (stride === undefined) return;
  if (stride < maxLength && !strideExceedsRoom(tokenizer, stride, maxLength)) return;
  throw new RunError(
    'invalid_input',
    `params.stride: ${stride} is too much for windows of ${maxLength} tokens`,
  );
}

/** The tokens of a row that are the text's own, and whether each goes on with a word. */
function describer(
  tokenizer: TokenizerFacts,
  text: string,
): (row: OffsetEncoding) => Omit<TaggedToken, 'scores'>[] {
  const { slice } = codePointsOf(text);
  const unknown = tokenizer.namedId('unk_token');
  return ({ ids, sequences, starts, ends }) =>
    ids.flatMap((id, index) => {
      if (sequences[index] === undefined) return [];
      const [start, end] = [starts[index]!, ends[index]!];
      const reference = slice(start, end);
      if (id === unknown) return [{ word: reference, start, end, index, goesOn: false }];
      const word = tokenizer.tokenOf(id) ?? '';
      const goesOn = tokenizer.marksSubwords
        ? codePoints(word) !== codePoints(reference)
        : start > 0 && !slice(start - 1, start + 1).includes(' ');
      return [{ word, start, end, index, goesOn }];
    });
}

const codePoints = (text: string): number => Array.from(text).length;
