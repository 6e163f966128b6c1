import { PROMPT_KINDS } from '../../runtime/core/readers.js';
import type { TaskId } from '../../runtime/core/task-ids.js';
import { EXPORTED } from '../../runtime/models/exported.js';
import { familyOf } from '../../runtime/models/registry.js';
import type { ModelFacts } from './facts.js';

type Row = [name: RegExp, ...tasks: TaskId[]];

/** Python class names -> tasks, the usual one first. The first matching row counts. */
const ARCHITECTURES: Row[] = [
  [
    /^(?:Wav2Vec2|Hubert|WavLM|UniSpeech|Data2VecAudio|SEWD?|Whisper|AST)\w*For(?:Sequence|Audio)Classification$/,
    'audio-classification',
  ],
  [/ForAudioClassification$/, 'audio-classification'],
  [/ForVideoClassification$/, 'video-classification'],
  [/ForImageClassification(?:WithTeacher)?$/, 'image-classification'],
  [/ForSequenceClassification$/, 'text-classification', 'zero-shot-classification'],
  [/ForTokenClassification$/, 'token-classification'],
  [/^(?:Vilt|Blip|Lxmert)\w*ForQuestionAnswering$/, 'visual-question-answering'],
  [/^LayoutLM\w*ForQuestionAnswering$/, 'document-question-answering'],
  [/ForQuestionAnswering$/, 'question-answering'],
  [/For(?:MaskedLM|PreTraining)$/, 'fill-mask', 'feature-extraction', 'sentence-similarity'],
  [
    /^(?:XLM|Flaubert)WithLMHeadModel$/,
    'fill-mask',
    'text-generation',
    'feature-extraction',
    'sentence-similarity',
  ],
  [/^GitForCausalLM$/, 'image-to-text'],
  [
    /(?:ForCausalLM|LMHeadModel)$/,
    'text-generation',
    'chat',
    // Embedders based on decoders keep the decoder's class name; the graph's outputs distinguish them.
    'feature-extraction',
    'sentence-similarity',
  ],
  [/TextModel$/, 'feature-extraction', 'sentence-similarity'],
  [
    /^(?:Whisper|Moonshine|Speech2Text)ForConditionalGeneration$|ForCTC$|^ParakeetFor(?:TDT|RNNT)$|^SpeechT5ForSpeechToText$|^SpeechEncoderDecoderModel$/,
    'automatic-speech-recognition',
  ],
  [/^GraniteSpeech\w*|^UltravoxModel$/, 'audio-text-to-text'],
  [/^MusicgenForConditionalGeneration$/, 'text-to-audio'],
  [/^(?:Vits|Bark)Model$|ForTextToSpeech$/, 'text-to-speech', 'text-to-audio'],
  [/^(?:Marian|FSMT|M2M100)\w*/, 'translation', 'text2text-generation'],
  [
    /^(?:M?T5|UMT5|LongT5|Flan|M?Bart|PLBart|BigBirdPegasus|Pegasus|PegasusX|LED|Mvp|Blenderbot|BlenderbotSmall|X?ProphetNet|SwitchTransformers)For(?:Conditional|Causal)\w*$|^EncoderDecoderModel$/i,
    'text2text-generation',
    'summarization',
    'translation',
  ],
  [
    /^VisionEncoderDecoderModel$|^Pix2Struct/,
    'image-to-text',
    'document-question-answering',
    'visual-question-answering',
  ],
  [/^BlipForConditionalGeneration$/, 'image-to-text', 'image-text-to-text'],
  [
    /^\w*Blip\w*ForConditionalGeneration$/,
    'image-text-to-text',
    'image-to-text',
    'visual-question-answering',
  ],
  // Chats of types that have no family and no prompt of ours yet.
  [/^(?:InternVLChat|VideoLlava|\w*Qwen\d\w*VL)\w*/, 'image-text-to-text', 'video-text-to-text'],
  [/^(?:\w*Llava|Idefics|Mllama|Florence2|Moondream)\w*/, 'image-text-to-text'],
  [/For(?:Semantic|Instance|Universal|Image)?Segmentation$/, 'image-segmentation'],
  // Networks that tell the foreground from its background.
  [/^(?:BiRefNet|B(?:ria|RIA)RMBG|BEN2?\w*|MODNet|ISNet\w*|U2Net\w*)$/, 'image-segmentation'],
  [/^(?:OwlViT|OwlVit|Owlv2|(?:MM)?GroundingDino)ForObjectDetection$/, 'zero-shot-object-detection'],
  [/ForObjectDetection$/, 'object-detection'],
  [/ForDepthEstimation$/, 'depth-estimation'],
  [/^(?:Sam|EdgeTam)\w*Model$/, 'mask-generation'],
  [/^(?:\w*CLIP(?:Seg)?|MetaClip2|Siglip2?|Align|Tipsv2)Model$/, 'zero-shot-image-classification'],
  [
    /^(?:ViT(?:MSN|MAE|Hybrid)?|VitDet|Pixio|Swin2SR|[DC]eiT|Beit|Data2VecVision|Dinov2|DINOv3\w*|Dinov2WithRegisters|Swin(?:v2)?|ConvNext\w*|ResNet|RegNet|Bit|Van|Cvt|Hiera|IJepa|FocalNet|EfficientNet|EfficientFormer|MobileNetV[12]|MobileViT(?:V2)?|Levit|PoolFormer|SwiftFormer|Pvt(?:V2)?|Segformer|GLPN|DPT|TextNet|TimmWrapper|\w*Vision(?:Transformer)?)Model$/,
    'image-feature-extraction',
  ],
  [/^(?:Wav2Vec2|Hubert|WavLM|Clap|VideoMAE|Encodec)\w*Model$/],
  [/Model$/, 'feature-extraction', 'sentence-similarity'],
];

/** Pipeline classes of the diffusers library. */
const PIPELINES: Row[] = [
  [/Video|AnimateDiff/, 'text-to-video'],
  [/Audio|Music/, 'text-to-audio'],
  [/^(?:DDPM|DDIM|PNDM|KarrasVe|ScoreSdeVe|LDM)Pipeline$/, 'unconditional-image-generation'],
  [/Img2Img|Inpaint|Upscale|ControlNet|InstructPix2Pix/],
  [/Pipeline$/, 'text-to-image'],
];

/**
 * Tasks that a model can do by these facts, the usual one first. Undefined when the facts don't say; then any task is
 * possible.
 */
export function possibleTasks(facts: ModelFacts): TaskId[] | undefined {
  const known = facts.pipelineClass
    ? lookUp(PIPELINES, facts.pipelineClass)
    : facts.architectures
        .map((name) => chatsOf(name, facts) ?? lookUp(ARCHITECTURES, name))
        .find((tasks) => tasks !== undefined);
  if (!known || !facts.sentenceModules) return known;
  return [...new Set<TaskId>([...known, 'sentence-similarity', 'feature-extraction'])];
}

const CHATS = {
  image: 'image-text-to-text',
  video: 'video-text-to-text',
  audio: 'audio-text-to-text',
} as const;

/** Conversations about the media that the type's prompts take. */
function chatsOf(architecture: string, { readers: { prompts = {} } }: ModelFacts): TaskId[] | undefined {
  if (!architecture.endsWith('ForConditionalGeneration')) return undefined;
  const kinds = PROMPT_KINDS.filter((kind) => prompts[kind] !== undefined);
  return kinds.length > 0 ? kinds.map((kind) => CHATS[kind]) : undefined;
}

/** The usual task of a model type; used when nothing better is known. */
export function taskOfModelType({ modelType }: ModelFacts): TaskId | undefined {
  if (modelType === undefined) return undefined;
  return (
    familyOf(modelType)?.usualTask ??
    (Object.hasOwn(EXPORTED, modelType) ? EXPORTED[modelType]!.usualTask : undefined)
  );
}

function lookUp(table: readonly Row[], name: string): TaskId[] | undefined {
  const row = table.find(([pattern]) => pattern.test(name));
  return row && (row.slice(1) as TaskId[]);
}
