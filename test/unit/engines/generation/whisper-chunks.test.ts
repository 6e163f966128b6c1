import { readFileSync } from 'node:fs';
import {
  type TranscribedPiece,
  whisperText,
} from '../../../../runtime/engines/generation/speech/whisper-text.js';
import { loadTokenizer } from '../../../../runtime/engines/tokenizers/tokenizer.js';

interface Case {
  pieces: TranscribedPiece[];
  text: string;
  chunks: { text: string; start: number | null; end: number | null }[];
}

/** By scripts/fixtures/whisper_chunks.py. */
const { begin, cases } = JSON.parse(readFileSync('test/fixtures/whisper-chunks.json', 'utf8')) as {
  begin: number;
  cases: Case[];
};

test('random tokens have the parts and times that Python gives them', async () => {
  const tokenizer = await loadTokenizer(
    'test/fixtures/zoo-own/automatic-speech-recognition/whisper-languages/repo',
  );
  const rules = {
    timestampBegin: begin,
    specialIds: tokenizer.specialIds,
    secondsPerStep: 0.02,
    decode: (ids: readonly number[]) => tokenizer.decode(ids, { skipSpecialTokens: false }),
  };
  expect(cases.length).toBe(80);
  for (const { pieces, text, chunks } of cases) expect(whisperText(pieces, rules)).toEqual({ text, chunks });
});
