import { voiceNames, voiceOf } from '../../../../runtime/engines/speech/vits/voice-names.js';

test.each<[string, Record<string, unknown>, string[]]>([
  ['Piper’s map', { speaker_id_map: { anna: 1, bert: 0, cleo: 2 } }, ['bert', 'anna', 'cleo']],
  ['a map the other way round', { id2speaker: { '0': 'anna', '2': 'cleo' } }, ['anna', '1', 'cleo']],
  ['a list', { speakers: ['p225', 'p226', 'p227'] }, ['p225', 'p226', 'p227']],
  ['labels', { id2label: { 0: 'anna', 1: 'bert', 2: 'cleo' } }, ['anna', 'bert', 'cleo']],
  ['labels that nobody chose', { id2label: { 0: 'LABEL_0', 1: 'LABEL_1', 2: 'LABEL_2' } }, ['0', '1', '2']],
  ['labels that are not of voices', { id2label: { 0: 'a', 3: 'd' } }, ['0', '1', '2']],
  ['one name for two', { spk2id: { anna: 0 }, speakers: ['a', 'a', 'b'] }, ['anna', '1', '2']],
  ['two names for one', { speaker_id_map: { anna: 0, ann: 0 } }, ['0', '1', '2']],
  [
    'names that are no names',
    { speaker_ids: 'anna', speakers: [{}], speaker2id: { anna: 0.5 } },
    ['0', '1', '2'],
  ],
])('%s', (_, config, names) => {
  expect(voiceNames(config, 3)).toEqual(names);
});

test('a voice is found by its name, which comes before its number', () => {
  const voices = ['anna', '7', '2'];
  const of = (speaker_id: unknown) => voiceOf({ speaker_id }, voices);
  expect(['anna', '7', '2', 2, '0', 0, null, undefined].map(of)).toEqual([
    ...[0, 1, 2, 2, 0, 0, undefined, undefined],
  ]);
});

test('a voice that the model does not have is refused with those that it has', () => {
  const refuse = (speaker_id: unknown, voices: string[]) => () => voiceOf({ speaker_id }, voices);
  expect(refuse('Anna', ['anna', 'bert'])).toThrow(
    'params.speaker_id: the model has 2 voices, from 0 on: anna, bert',
  );
  expect(refuse(2, ['anna', 'bert'])).toThrow(/anna, bert$/);
  expect(refuse('anna', ['0', '1'])).toThrow(/has 2 voices, from 0 on$/);
  const many = Array.from({ length: 100 }, (_, id) => `voice ${id}`);
  expect(refuse('anna', many)).toThrow(/voice 49, …$/);
});
