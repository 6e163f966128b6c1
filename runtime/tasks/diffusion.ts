import * as z from 'zod';

/** Longest prompt in characters; models read some tokens of it. */
const LONGEST_PROMPT = 100_000;
/** Largest height or width. */
const LARGEST = 16_384;
/** As many as schedules have steps. */
const MOST_STEPS = 1000;

/** May be empty, as in Python. */
export const prompt = z.string().max(LONGEST_PROMPT);

/** Parameters of all that is made out of noise. */
export const noiseParams = {
  num_inference_steps: z
    .int()
    .min(1)
    .max(MOST_STEPS)
    .nullish()
    .describe('runs of the network; the pipeline’s own number by default'),
  eta: z.number().min(0).max(1).nullish().describe('share of fresh noise in each step, for DDIM alone'),
  seed: z.int().nullish().describe('the noise is that of torch.Generator().manual_seed(seed)'),
  latents: z
    .array(z.any())
    .nullish()
    .describe('the noise to start from, as nested lists in the shape of the model’s samples'),
};

const side = z.int().min(8).max(LARGEST).nullish().describe('pixels, a multiple of 8');

/** Parameters of what is made by a text. */
export const promptParams = {
  ...noiseParams,
  negative_prompt: z.string().max(LONGEST_PROMPT).nullish().describe('what is not to be seen'),
  guidance_scale: z
    .number()
    .min(0)
    .max(1000)
    .nullish()
    .describe('how much the text counts; 1 and less: the negative prompt is not used'),
  height: side,
  width: side,
};

/** Files of a diffusers pipeline beside its graphs. */
export const PIPELINE_FILES = [
  'model_index.json',
  ...['scheduler/scheduler_config.json', 'scheduler_config.json'],
  ...['unet', 'transformer', 'vae', 'vae_decoder', 'vqvae', 'vqvae_decoder'].map(
    (folder) => `${folder}/config.json`,
  ),
  '*/unet/config.json',
  '*/vae_decoder/config.json',
];

const ENCODERS = ['text_encoder', 'text_encoder_2', 'text_encoder_3'];

/** Files of its text encoders and their tokenizers. */
export const PROMPT_FILES = [...ENCODERS, ...ENCODERS.map((folder) => `*/${folder}`)]
  .map((folder) => `${folder}/config.json`)
  .concat(
    ['tokenizer', 'tokenizer_2', 'tokenizer_3'].flatMap((folder) =>
      [
        ...['tokenizer.json', 'vocab.json', 'merges.txt', 'tokenizer_config.json'],
        ...['special_tokens_map.json', 'added_tokens.json', 'spiece.model'],
      ].map((file) => `${folder}/${file}`),
    ),
  );

export const image = z.string().describe('data URL of a PNG file, or with json: true the file itself');
