/** Vocabularies that the server makes a tokenizer.json of, as transformers does where a repository has none. */
export interface Vocabulary {
  /** `wordpiece`: BERT's words and their endings. `bytes`: GPT-2's pairs of bytes. */
  kind: 'wordpiece' | 'bytes';
  files: readonly string[];
}

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
