import type { ImageSize } from '../../../runtime/core/network.js';
import { type Json, positive } from '../network/config-fields.js';
import { readersOf } from '../../../runtime/models/readers.js';
import { imageProcessorStem } from '../../../runtime/core/image-processors.js';

/** An image of usual size and proportions. */
export const USUAL: ImageSize = { height: 750, width: 1000 };

/** What files say nothing of. */
interface Rules {
  /** `size` where it is missing. */
  size: unknown;
  /** A bare number is the shortest edge, of images that are no longer than `max_size`. */
  bounded?: boolean;
  /** ImageSize are multiples of it; of those below for images that are never enlarged. */
  multiple?: number;
  floors?: boolean;
  pad?: ImageSize;
  /** Padded to the shortest edge by the longest. */
  padsToSize?: boolean;
  /** Images keep their proportions where settings don't say otherwise. */
  keepsAspect?: boolean;
  /** Images are cut or squashed to the shortest edge. */
  squares?: boolean;
}

const square = (edge: number): ImageSize => ({ height: edge, width: edge });
const DETR: Rules = { size: { shortest_edge: 800, longest_edge: 1333 }, bounded: true };
const MASKS: Rules = { ...DETR, multiple: 32 };

/** By the name of the processor; all others take a square of 224 pixels. */
const RULES: Readonly<Record<string, Rules>> = {
  ...{
    Detr: DETR,
    ConditionalDetr: DETR,
    DeformableDetr: DETR,
    GroundingDino: DETR,
    Yolos: DETR,
    RfDetr: DETR,
  },
  ...{ MaskFormer: MASKS, Mask2Former: MASKS, OneFormer: DETR, RTDetr: { size: square(640) } },
  Eomt: { size: { shortest_edge: 640, longest_edge: 640 }, bounded: true, padsToSize: true },
  ...{ Segformer: { size: 512 }, DPT: { size: 384 }, PromptDepthAnything: { size: 384 } },
  ...{
    GLPN: { size: null, multiple: 32, floors: true },
    ZoeDepth: { size: { height: 384, width: 512 }, multiple: 32, keepsAspect: true },
  },
  ...{ Tipsv2: { size: 448 }, Tipsv2Dpt: { size: 448 } },
  ...{ DepthPro: { size: 1536 }, EfficientNet: { size: 346 }, TextNet: { size: { shortest_edge: 640 } } },
  ...{
    OwlViT: { size: 768 },
    Owlv2: { size: 960 },
    Sam2: { size: 1024 },
    Sam3: { size: 1008 },
    Blip: { size: 384 },
  },
  ...{ ConvNext: { size: 384, squares: true }, Vilt: { size: { shortest_edge: 384, longest_edge: 640 } } },
  ...{ Sam: { size: { longest_edge: 1024 }, pad: square(1024) } },
  CHMv2: { size: null, multiple: 16 },
  Sapiens2: { size: { height: 1024, width: 768 } },
  ...{ PPDocLayoutV2: { size: 800 }, PPDocLayoutV3: { size: 800 }, PPDocLayoutV4: { size: 800 } },
  Donut: { size: { height: 2560, width: 1920 } },
};
const OTHERS: Rules = { size: 224 };

/** `RTDetr` and `rt_detr` are the same. */
const plain = (name: string): string => name.replace(/[-_]/g, '').toLowerCase();
const BY_NAME = new Map(Object.entries(RULES).map(([name, rules]) => [plain(name), rules]));

/** By the processor's name; where none is given, by that of the model's family. */
function rulesOf(config: Json, processing: Json): Rules {
  const name = processing['image_processor_type'] ?? processing['feature_extractor_type'];
  const text = typeof name === 'string' ? imageProcessorStem(name) : (readersOf(config).processor ?? '');
  return BY_NAME.get(plain(text)) ?? OTHERS;
}

/** Longest edge where settings of an older form name none. */
const DETR_LONGEST = 1333;
/** Of Siglip2 and Pix2Struct, which cut an image into so many patches at most. */
const PATCH = 16;
/** What no image is enlarged to: hostile settings give figures, too. */
const MOST = 2 ** 14;

/**
 * How large an image is for the network, from config.json and preprocessor_config.json. What processors do to the pixel is
 * in runtime/engines/processors/image/, which the builder does not load; here edges may be a few pixels off. Pure; unreadable
 * settings count as missing ones.
 */
export function processedEdges(config: Json, processing: Json, image: ImageSize = USUAL): ImageSize {
  const { height, width } = processed(config, processing, image);
  const edge = (length: number) => Math.min(MOST, Math.max(1, Math.round(length)));
  return { height: edge(height), width: edge(width) };
}

function processed(config: Json, processing: Json, image: ImageSize): ImageSize {
  const timm = timmEdges(config);
  if (timm) return timm;
  const patches = positive(processing['max_num_patches']) ?? positive(processing['max_patches']);
  if (patches) return square(Math.sqrt(patches) * (edgesOf(processing['patch_size'])?.height ?? PATCH));
  const rules = rulesOf(config, processing);
  const crop = processing['do_center_crop'] === true && edgesOf(processing['crop_size'] ?? 224);
  const resized = crop || resizedEdges(processing, rules, image);
  const whole = multiplesOf(resized, processing, rules);
  const pad = rules.padsToSize
    ? sizePadding(processing, rules)
    : (edgesOf(processing['pad_size']) ?? rules.pad);
  return pad && processing['do_pad'] !== false ? largest(whole, pad) : whole;
}

function resizedEdges(processing: Json, rules: Rules, image: ImageSize): ImageSize {
  if (processing['do_resize'] === false) return image;
  const size = processing['size'] ?? rules.size;
  if (size === null) return image;
  const number = positive(size);
  if (number && rules.bounded) return within(image, number, positive(processing['max_size']) ?? DETR_LONGEST);
  const edges = edgesOf(size);
  const shortest = rules.squares && positive((size as Json)['shortest_edge']);
  if (shortest) return square(shortest);
  const keepsAspect = processing['keep_aspect_ratio'] ?? rules.keepsAspect;
  if (edges) return keepsAspect === true ? likeliest(image, edges) : edges;
  return ofNamedEdges(image, (typeof size === 'object' ? size : {}) as Json) ?? square(224);
}

/** The named forms of `size`, all of which keep the image's proportions. */
function ofNamedEdges(image: ImageSize, size: Json): ImageSize | undefined {
  const [shortest, longest] = [positive(size['shortest_edge']), positive(size['longest_edge'])];
  if (shortest) return within(image, shortest, longest);
  if (longest) return scaled(image, longest / Math.max(image.height, image.width));
  const [height, width] = [positive(size['max_height']), positive(size['max_width'])];
  if (!height || !width) return undefined;
  return scaled(image, Math.min(height / image.height, width / image.width));
}

/** The shortest edge has this length, unless the longest one would be too long. */
function within(image: ImageSize, shortest: number, longest = Infinity): ImageSize {
  const [short, long] = [Math.min(image.height, image.width), Math.max(image.height, image.width)];
  return scaled(image, Math.min(shortest / short, longest / long));
}

/** DPT's: the edge that changes less decides. */
function likeliest(image: ImageSize, to: ImageSize): ImageSize {
  const [down, across] = [to.height / image.height, to.width / image.width];
  return scaled(image, Math.abs(1 - across) < Math.abs(1 - down) ? across : down);
}

/** A number, a pair, or an object: both edges. */
function edgesOf(size: unknown): ImageSize | undefined {
  const number = positive(size);
  if (number) return square(number);
  if (typeof size !== 'object' || size === null) return undefined;
  const [height, width] = (
    Array.isArray(size) ? size : [(size as Json)['height'], (size as Json)['width']]
  ).map(positive);
  return height && width ? { height, width } : undefined;
}

/** timm's settings stand in config.json. */
function timmEdges({ pretrained_cfg: own }: Json): ImageSize | undefined {
  if (typeof own !== 'object' || own === null) return undefined;
  const size = (own as Json)['input_size'];
  return edgesOf(Array.isArray(size) ? size.slice(1) : 224);
}

function multiplesOf({ height, width }: ImageSize, processing: Json, rules: Rules): ImageSize {
  const divisor = positive(processing['size_divisibility']);
  const of = divisor ?? positive(processing['ensure_multiple_of']) ?? rules.multiple;
  if (!of) return { height, width };
  const round = divisor || rules.floors ? Math.floor : Math.round;
  return { height: round(height / of) * of, width: round(width / of) * of };
}

function sizePadding(processing: Json, rules: Rules): ImageSize | undefined {
  const { shortest_edge, longest_edge } = (processing['size'] ?? rules.size) as Json;
  return processing['do_pad'] === true ? edgesOf([shortest_edge, longest_edge]) : undefined;
}

const scaled = ({ height, width }: ImageSize, by: number): ImageSize => ({
  height: height * by,
  width: width * by,
});
const largest = (a: ImageSize, b: ImageSize): ImageSize => ({
  height: Math.max(a.height, b.height),
  width: Math.max(a.width, b.width),
});
