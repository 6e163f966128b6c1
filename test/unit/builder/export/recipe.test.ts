import { recipesFor } from '../../../../builder/export/recipes/index.js';
import { ofOneRow } from '../../../../builder/export/recipes/images.js';
import type { ExportRecipe } from '../../../../builder/export/types.js';

const TEXT = {
  model_type: 'nystromformer',
  vocab_size: 400,
  type_vocab_size: 2,
  pad_token_id: 0,
  mask_token_id: 120,
};
type AnyHead = Parameters<typeof recipesFor>[0]['head'];
const recipes = (head: AnyHead, config: object, processing: object = {}) =>
  recipesFor({
    head,
    config: config as Record<string, unknown>,
    processing: processing as Record<string, unknown>,
  });
/** Of networks that are one graph. */
const recipe = (head: AnyHead, config: object, processing: object = {}) => {
  const found = recipes(head, config, processing);
  return typeof found === 'string' ? found : found['model'];
};

describe('how a network is exported', () => {
  test('a network of texts: tokens without those that mean something, padded rows, any length', () => {
    expect(recipe('masked-lm', TEXT)).toEqual({
      ...{
        modelType: 'nystromformer',
        class: 'AutoModelForMaskedLM',
        config: {},
        mayMiss: [],
        outputs: ['logits'],
      },
      inputs: {
        input_ids: {
          ...{
            kind: 'tokens',
            axes: ['rows', 'length'],
            low: 100,
            high: 400,
            avoid: [0, 120],
            fixed: [],
            pad: 0,
          },
        },
        attention_mask: { kind: 'mask', axes: ['rows', 'length'], optional: true },
        token_type_ids: { kind: 'segments', axes: ['rows', 'length'], optional: true },
      },
      ...{ free: ['rows', 'length'], traced: { rows: 2, length: 12 } },
      probes: [1, 3].flatMap((rows) => [7, 16, 29].map((length) => ({ rows, length }))),
    });
  });

  test.each([
    ['sequence-classification', 'AutoModelForSequenceClassification', ['logits']],
    ['question-answering', 'AutoModelForQuestionAnswering', ['start_logits', 'end_logits']],
    ['embedding', 'AutoModel', ['last_hidden_state']],
  ] as const)('%s is loaded as %s', (head, name, outputs) => {
    expect(recipe(head, TEXT)).toMatchObject({ class: name, outputs });
  });

  test('without kinds of segments there is no input for them', () => {
    const { inputs } = recipe('embedding', { ...TEXT, type_vocab_size: 1 }) as ExportRecipe;
    expect(Object.keys(inputs)).toEqual(['input_ids', 'attention_mask']);
  });

  test('texts of the sample are no longer than the positions', () => {
    const { traced, probes } = recipe('embedding', { ...TEXT, max_position_embeddings: 12 }) as ExportRecipe;
    expect([traced, ...probes].map(({ length }) => length)).toEqual([10, 7, 10, 10, 7, 10, 10]);
  });

  test('a network of images reads those that the processor makes', () => {
    const config = { model_type: 'pvt_v2' };
    const processing = { image_processor_type: 'PvtImageProcessor', size: { height: 64, width: 96 } };
    expect(recipe('image-classification', config, processing)).toMatchObject({
      inputs: { pixel_values: { kind: 'noise', axes: ['rows', 3, 64, 96] } },
      free: ['rows'],
    });
  });

  test('a network of convolutions reads images of any size, others one size', () => {
    const processing = { image_processor_type: 'TextNetImageProcessor', size: { shortest_edge: 64 } };
    const found = recipe('image-classification', { model_type: 'textnet' }, processing);
    expect(found).toMatchObject({
      inputs: { pixel_values: { axes: ['rows', 3, 'height', 'width'] } },
      free: ['rows', 'height', 'width'],
      traced: { rows: 2, height: 64, width: 107 },
    });
    expect(recipe('image-classification', { model_type: 'pvt_v2' }, processing)).toMatch('several sizes');
  });

  test('a network that keeps the number of its images is traced with one', () => {
    const size = { size: { height: 64, width: 64 } };
    const many = recipe('depth-estimation', { model_type: 'depth_pro' }, size) as ExportRecipe;
    expect(ofOneRow(many)).toEqual({
      ...many,
      free: [],
      traced: { rows: 1 },
      probes: [{ rows: 1 }, { rows: 1 }],
    });
    expect(ofOneRow(recipe('embedding', TEXT) as ExportRecipe)).toBeUndefined();
  });

  test('the vocabulary of a network for images and texts is that of its texts', () =>
    expect(
      recipe('masked-lm', { model_type: 'modernvbert', text_config: { vocab_size: 400 } }),
    ).toMatchObject({
      inputs: { input_ids: { low: 100, high: 400 } },
    }));

  test('a network of audio reads any number of samples', () => {
    expect(recipe('ctc', { model_type: 'sew' })).toMatchObject({
      ...{ class: 'AutoModelForCTC', free: ['rows', 'samples'] },
      inputs: { input_values: { kind: 'noise', axes: ['rows', 'samples'] } },
    });
  });

  test('images against texts are two axes of their own, and texts end where they say', () => {
    const config = {
      model_type: 'metaclip_2',
      text_config: { vocab_size: 400, eos_token_id: 3, pad_token_id: 1 },
    };
    const { inputs, free } = recipe('image-text-matching', config, {
      size: { height: 32, width: 32 },
    }) as ExportRecipe;
    expect(inputs['input_ids']).toMatchObject({
      axes: ['texts', 'length'],
      fixed: [[4, 3]],
      avoid: [1, 3],
      pad: 1,
    });
    expect(inputs['pixel_values']).toMatchObject({ axes: ['images', 3, 32, 32] });
    expect(free).toEqual(['texts', 'length', 'images']);
  });

  test('a decoder is traced behind a cache, over rows that are padded on the left', () => {
    const found = recipe('causal-lm', {
      model_type: 'biogpt',
      vocab_size: 400,
      eos_token_id: 2,
    }) as ExportRecipe;
    expect(found).toMatchObject({
      class: 'AutoModelForCausalLM',
      decoder: true,
      padding: 'left',
      outputs: ['logits'],
    });
    expect(found.probes.map(({ past }) => past)).toEqual([0, 0, 13, 24]);
  });

  describe('an encoder-decoder', () => {
    const CONFIG = { model_type: 'pegasus_x', vocab_size: 400, pad_token_id: 0, eos_token_id: 1 };
    const found = (config: object) => recipes('seq2seq-lm', config) as Record<string, ExportRecipe>;

    test('is three graphs: the encoder, the step that makes the caches, a later one', () => {
      const names = {
        decoder_input_ids: 'input_ids',
        attention_mask: 'encoder_attention_mask',
        'encoder_outputs.last_hidden_state': 'encoder_hidden_states',
      };
      const shared = { modelType: 'pegasus_x', class: 'AutoModelForSeq2SeqLM' };
      expect(found(CONFIG)).toMatchObject({
        encoder_model: { ...shared, part: 'encoder', outputs: ['last_hidden_state'] },
        decoder_model: { ...shared, part: 'first', outputs: ['logits'], names },
        decoder_with_past_model: { ...shared, part: 'next', outputs: ['logits'], names },
      });
      expect(found(CONFIG)['encoder_model']!.names).toBeUndefined();
    });

    test('reads padded sources, and answers that begin with several tokens', () => {
      const { inputs, probes } = found(CONFIG)['decoder_model']!;
      expect(inputs).toMatchObject({
        input_ids: { axes: ['rows', 'length'], low: 100, high: 400, avoid: [0, 1], pad: 0 },
        attention_mask: { kind: 'mask' },
        decoder_input_ids: { axes: ['rows', 'start'], low: 100, high: 400 },
      });
      expect(probes.map(({ start }) => start)).toEqual([1, 1, 5]);
    });

    test.each([
      [{ src_vocab_size: 40, tgt_vocab_size: 80 }, 40, 80],
      [{ encoder: { vocab_size: 40 }, decoder: { vocab_size: 80 } }, 40, 80],
    ])('vocabularies of %j', (sizes, source, answer) => {
      const { inputs } = found({ model_type: 'odd', ...sizes })['encoder_model']!;
      expect(inputs).toMatchObject({ input_ids: { high: source }, decoder_input_ids: { high: answer } });
    });

    test('reads samples of audio, without a mask', () => {
      const config = { model_type: 'speech-encoder-decoder', decoder: { vocab_size: 80 } };
      const { decoder_model: first } = recipes('speech-seq2seq', config) as Record<string, ExportRecipe>;
      expect(first).toMatchObject({
        class: 'AutoModelForSpeechSeq2Seq',
        inputs: {
          input_values: { kind: 'noise', axes: ['rows', 'samples'] },
          decoder_input_ids: { high: 80 },
        },
      });
      expect(Object.keys(first!.inputs)).toEqual(['input_values', 'decoder_input_ids']);
      expect(recipes('speech-seq2seq', { model_type: 'canary' })).toContain('audio has no recipe');
    });

    test('without a vocabulary has no recipe', () =>
      expect(recipes('seq2seq-lm', { model_type: 'odd' })).toContain('no vocab_size'));
  });

  test('classes of pixels and masks of queries have a recipe, other segmentations none', () => {
    const size = { size: { height: 64, width: 64 } };
    const config = { model_type: 'mobilevitv2', architectures: ['MobileViTV2ForSemanticSegmentation'] };
    expect(recipe('image-segmentation', config, size)).toMatchObject({
      class: 'AutoModelForSemanticSegmentation',
    });
    const of = (type: string, name: string) =>
      recipe('image-segmentation', { model_type: type, architectures: [name] }, size);
    expect(of('eomt_dinov3', 'EomtDinov3ForUniversalSegmentation')).toMatchObject({
      class: 'AutoModelForUniversalSegmentation',
      outputs: ['class_queries_logits', 'masks_queries_logits'],
    });
    expect(of('detr', 'DetrForSegmentation')).toBe('its kind of segmentation has no recipe');
    expect(of('oneformer', 'OneFormerForUniversalSegmentation')).toBe('it reads its task as a text');
  });

  test.each([
    ['masked-lm', { vocab_size: 400 }, {}, 'no model_type'],
    ['masked-lm', { model_type: 'odd' }, {}, 'no vocab_size'],
    ['masked-lm', { ...TEXT, quantization_config: { bits: 4 } }, {}, 'packed by another tool'],
    ['image-classification', { model_type: 'odd' }, { size: { shortest_edge: 224 } }, 'several sizes'],
    ['ctc', { model_type: 'lasr_ctc' }, {}, 'kind of spectrogram has no recipe'],
    ['text-to-image', TEXT, {}, 'no recipe for text-to-image'],
  ] as const)('%s of %j: a reason', (head, config, processing, reason) => {
    expect(recipe(head, config, processing)).toContain(reason);
  });
});

describe('how a chat about images is exported', () => {
  const CHAT = {
    model_type: 'aria',
    image_token_index: 9,
    text_config: { vocab_size: 400, pad_token_id: 2, bos_token_id: 1 },
  };

  test('as the graphs of transformers.js: tokens, images, and a step over both', () => {
    const found = recipes('media-chat', CHAT) as Record<string, ExportRecipe>;
    expect(Object.keys(found)).toEqual(['embed_tokens', 'vision_encoder', 'decoder_model_merged']);
    const { embed_tokens: tokens, vision_encoder: images, decoder_model_merged: step } = found;
    expect(tokens).toMatchObject({ part: 'embed', outputs: ['inputs_embeds'], free: ['rows', 'length'] });
    expect(images).toMatchObject({
      ...{ part: 'image', outputs: ['image_features'], free: [], traced: { images: 1 } },
      inputs: {
        pixel_values: { kind: 'noise', axes: ['images', 3, 980, 980] },
        pixel_mask: { kind: 'corner', axes: ['images', 980, 980] },
      },
    });
    expect(step).toMatchObject({
      ...{ part: 'decode', outputs: ['logits'], images: ['pixel_values', 'pixel_mask'], token: 9 },
      inputs: { input_ids: { low: 100, high: 400, avoid: [1, 2, 9], pad: 2 } },
    });
  });

  test('not of types whose images have no recipe, or without a token of images', () => {
    expect(recipes('media-chat', { ...CHAT, model_type: 'other' })).toMatch('has no recipe');
    expect(recipes('media-chat', { ...CHAT, image_token_index: undefined })).toMatch('no token of images');
  });
});
