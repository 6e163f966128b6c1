/** Vocabularies that the server makes a tokenizer.json of, as transformers does where a repository has none. */
export interface Vocabulary {
  /** `wordpiece`: BERT's words and their endings. `bytes`: GPT-2's pairs of bytes. `marked`: Blenderbot-small's pairs of letters. `sentencepiece`: a trained model. */
  kind: 'wordpiece' | 'bytes' | 'marked' | 'sentencepiece';
  files: readonly string[];
  /** Class whose tokenizer is made of a trained model, without `Tokenizer`. */
  family?: string;
  /** Python has its class in Python only: sentencepiece itself cuts texts. */
  isSlow?: boolean;
}

/** Whether a file holds a trained model, by its name. */
export function isTrainedModel(path: string): boolean {
  return /\.(?:model|spm)$/.test(path);
}

/** What tokenizers are told beside their vocabularies. */
export const TOKENIZER_SETTINGS = ['tokenizer_config.json', 'special_tokens_map.json', 'added_tokens.json'];

const trained = (family: string, ...files: string[]): Vocabulary => ({
  kind: 'sentencepiece',
  files,
  family,
});
const slow = (family: string, ...files: string[]): Vocabulary => ({
  ...trained(family, ...files),
  isSlow: true,
});
const FAIRSEQ_MODEL = 'sentencepiece.bpe.model';

const KINDS: [names: RegExp, vocabulary: Vocabulary][] = [
  [
    /^(Bert|DistilBert|Electra|MobileBert|ConvBert|SqueezeBert|LayoutLM|MPNet)$/,
    { kind: 'wordpiece', files: ['vocab.txt'] },
  ],
  [/^(GPT2|Roberta|Bart|Longformer|LED|Mvp)$/, { kind: 'bytes', files: ['vocab.json', 'merges.txt'] }],
  [/^BlenderbotSmall$/, { kind: 'marked', files: ['vocab.json', 'merges.txt'] }],
  [/^M?T5$/, trained('T5', 'spiece.model')],
  [/^XLMRoberta$/, trained('XLMRoberta', FAIRSEQ_MODEL)],
  [/^Camembert$/, trained('Camembert', FAIRSEQ_MODEL)],
  [/^MBart$/, trained('MBart', FAIRSEQ_MODEL)],
  [/^MBart50$/, trained('MBart50', FAIRSEQ_MODEL)],
  [/^Nllb$/, trained('Nllb', FAIRSEQ_MODEL)],
  [/^M2M100$/, slow('M2M100', FAIRSEQ_MODEL, 'vocab.json')],
  [/^Marian$/, slow('Marian', 'source.spm', 'target.spm', 'vocab.json')],
  [/^PLBart$/, slow('PLBart', FAIRSEQ_MODEL)],
  [/^Speech2Text$/, slow('Speech2Text', FAIRSEQ_MODEL, 'vocab.json')],
  [/^SpeechT5$/, slow('SpeechT5', 'spm_char.model')],
  [/^Albert$/, trained('Albert', 'spiece.model')],
  [/^DebertaV2$/, trained('DebertaV2', 'spm.model')],
  [/^Pegasus$/, trained('Pegasus', 'spiece.model')],
  [/^BigBird$/, trained('BigBird', 'spiece.model')],
  [/^XLNet$/, trained('XLNet', 'spiece.model')],
  [/^Llama$/, trained('Llama', 'tokenizer.model')],
  [/^Gemma$/, trained('Gemma', 'tokenizer.model')],
];

/**
 * The files of a tokenizer's vocabulary; undefined for classes whose tokenizer.json can't be made of such files.
 * @param tokenizerClass Python's, less `Tokenizer`
 */
export function vocabularyOf(tokenizerClass: string): Vocabulary | undefined {
  return KINDS.find(([names]) => names.test(tokenizerClass))?.[1];
}
