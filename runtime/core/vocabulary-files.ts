/** Vocabularies that the server makes a tokenizer.json of, as transformers does where a repository has none. */
export interface Vocabulary {
  /** `wordpiece`: BERT's words and their endings. `bytes`: GPT-2's pairs of bytes. `sentencepiece`: a trained model. */
  kind: 'wordpiece' | 'bytes' | 'sentencepiece';
  files: readonly string[];
  /** Class whose tokenizer is made of a trained model, without `Tokenizer`. */
  family?: string;
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
const FAIRSEQ_MODEL = 'sentencepiece.bpe.model';

const KINDS: [names: RegExp, models: RegExp, vocabulary: Vocabulary][] = [
  [
    /^(Bert|DistilBert|Electra|MobileBert|ConvBert|SqueezeBert|LayoutLM|MPNet)$/,
    /^(bert|distilbert|electra|mobilebert|convbert|squeezebert|layoutlm|mpnet)$/,
    { kind: 'wordpiece', files: ['vocab.txt'] },
  ],
  [
    /^(GPT2|Roberta|Bart|Longformer|LED)$/,
    /^(gpt2|gpt_neo|gptj|opt|roberta|bart|longformer|led)$/,
    { kind: 'bytes', files: ['vocab.json', 'merges.txt'] },
  ],
  [/^M?T5$/, /^(t5|mt5|umt5|longt5|switch_transformers)$/, trained('T5', 'spiece.model')],
  [/^XLMRoberta$/, /^(xlm-roberta|xlm-roberta-xl|xmod)$/, trained('XLMRoberta', FAIRSEQ_MODEL)],
  [/^Camembert$/, /^camembert$/, trained('Camembert', FAIRSEQ_MODEL)],
  [/^MBart$/, /^mbart$/, trained('MBart', FAIRSEQ_MODEL)],
  [/^MBart50$/, /^mbart50$/, trained('MBart50', FAIRSEQ_MODEL)],
  [/^Nllb$/, /^nllb-moe$/, trained('Nllb', FAIRSEQ_MODEL)],
  [/^M2M100$/, /^m2m_100$/, trained('M2M100', FAIRSEQ_MODEL, 'vocab.json')],
  [/^Marian$/, /^marian$/, trained('Marian', 'source.spm', 'target.spm', 'vocab.json')],
  [/^Albert$/, /^albert$/, trained('Albert', 'spiece.model')],
  [/^DebertaV2$/, /^deberta-v2$/, trained('DebertaV2', 'spm.model')],
  [/^Pegasus$/, /^(pegasus|bigbird_pegasus)$/, trained('Pegasus', 'spiece.model')],
  [/^BigBird$/, /^big_bird$/, trained('BigBird', 'spiece.model')],
  [/^XLNet$/, /^xlnet$/, trained('XLNet', 'spiece.model')],
  [/^Llama$/, /^(llama|mistral|mixtral|ministral|phi3|phimoe|jamba)$/, trained('Llama', 'tokenizer.model')],
  [/^Gemma$/, /^(gemma|gemma2|gemma3|gemma3_text)$/, trained('Gemma', 'tokenizer.model')],
];

export interface TokenizerClass {
  /** `tokenizer_class` of tokenizer_config.json or config.json; by the model's type if absent. */
  tokenizerClass: string | undefined;
  modelType: string | undefined;
}

/** The files of a tokenizer's vocabulary; undefined for classes whose tokenizer.json can't be made of such files. */
export function vocabularyOf({ tokenizerClass, modelType = '' }: TokenizerClass): Vocabulary | undefined {
  const name = tokenizerClass?.replace(/Tokenizer(Fast)?$/, '');
  return KINDS.find(([names, models]) => (name ? names.test(name) : models.test(modelType)))?.[2];
}
