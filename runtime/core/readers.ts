/**
 * The code that reads a model's files and what it answers with, by name. The builder takes the names from the model's
 * family (runtime/models/) and writes them into model.json; the server looks its code up by them and knows no types of models.
 * What is absent has nothing of its own.
 */
export interface ModelReaders {
  /** Python's image processor, less `ImageProcessor`; ViT's if absent. */
  processor?: string | undefined;
  /** Python's feature extractor for audio, less `FeatureExtractor`; that of Wav2Vec2 if absent. */
  extractor?: string | undefined;
  /** How media become a part of the prompt, by kind (runtime/engines/generation/prompts/media/). */
  prompts?: Partial<Record<PromptKind, string | undefined>> | undefined;
  rope?: (typeof ROPES)[number] | undefined;
  positions?: PositionKind | undefined;
  messages?: (typeof MESSAGES)[number] | undefined;
  decoderInput?: (typeof DECODER_INPUTS)[number] | undefined;
  boxes?: (typeof BOXES)[number] | undefined;
  detector?: (typeof DETECTORS)[number] | undefined;
  matching?: (typeof MATCHINGS)[number] | undefined;
  segmenter?: (typeof SEGMENTERS)[number] | undefined;
  audio?: (typeof AUDIO_READERS)[number] | undefined;
  captions?: (typeof CAPTIONS)[number] | undefined;
}

export const PROMPT_KINDS = ['image', 'audio', 'video'] as const;
export type PromptKind = (typeof PROMPT_KINDS)[number];

/** Texts that grow beyond the short rotary positions are computed again from their beginning. */
export const ROPES = ['recomputed'] as const;
/**
 * Where positions of a text end, if not with rows for all of `max_position_embeddings` that go on by computing. `learned`: with the
 * table, whatever the graph is fed. `after-padding`, `after-two`: with the table, whose rows up to that of padding, or whose first two,
 * no token gets. `distance`: never, since tokens know their distance alone. `blocks`: with the table, but tokens of long texts attend
 * to blocks.
 */
export const POSITIONS = ['learned', 'after-padding', 'after-two', 'distance', 'blocks'] as const;
export type PositionKind = (typeof POSITIONS)[number];
/** Templates take contents as plain strings, whatever they look like. */
export const MESSAGES = ['plain'] as const;
/** What a base model's decoder reads of the text: `shifted` behind a start token, `rotated` behind its own last token. */
export const DECODER_INPUTS = ['shifted', 'rotated'] as const;
/** Boxes of special tokens of a document; those of LayoutLMv2 if absent. */
export const BOXES = ['layoutlm', 'layoutlmv3'] as const;
/** Detectors by text: `tokens` scores each token of one text; `squares` has boxes relative to the padded square. */
export const DETECTORS = ['tokens', 'squares'] as const;
/** Scores of an image and a text are independent of other texts. */
export const MATCHINGS = ['sigmoid'] as const;
/** The graph reads what it is to do as a text. */
export const SEGMENTERS = ['task-text'] as const;
/** What listens, or speaks, in another way than Wav2Vec2's. `tdt`: a transducer that predicts durations, too. */
export const AUDIO_READERS = [
  ...(['whisper', 'moonshine', 'wav2vec2-bert', 'parakeet', 'lasr', 'omniasr', 'transducer', 'tdt'] as const),
  ...([
    'granite-speech5',
    'moonshine-streaming',
    'vits',
    'musicgen',
    'speecht5',
    'canary',
    'cohere-asr',
  ] as const),
] as const;
/** How descriptions of images begin, where not as in VisionEncoderDecoder. */
export const CAPTIONS = ['blip', 'git'] as const;
