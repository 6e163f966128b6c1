import { isObject } from './json.js';

type Json = Readonly<Record<string, unknown>>;

/** Edge of images where a file says none. */
const USUAL = 1008;

const part = (config: Json, name: string): Json => (isObject(config[name]) ? config[name] : {});

/**
 * The part of SAM 3's model of videos that finds masks of images, which is what Python's pipeline reads. Its class gives the
 * size of its images to its parts, whatever those say. configuration_sam3_tracker_video.py
 */
export function trackerOf(config: Json): Json {
  const { model_type: type, transformers_version: version, architectures } = config;
  if (type !== 'sam3_video' || !isObject(config['tracker_config'])) return config;
  const { image_size: own, ...tracker } = part(config, 'tracker_config');
  const size = config['image_size'] ?? own ?? USUAL;
  const vision = part(tracker, 'vision_config');
  const backbone = part(vision, 'backbone_config');
  const patch = backbone['patch_size'] ?? 14;
  const edge = (factor: number) => Math.floor((factor * Number(size)) / Number(patch));
  return {
    ...{ transformers_version: version, ...tracker, model_type: type, architectures },
    prompt_encoder_config: { ...part(tracker, 'prompt_encoder_config'), image_size: size },
    vision_config: {
      ...vision,
      backbone_config: { ...backbone, image_size: size },
      backbone_feature_sizes: [4, 2, 1].map((factor) => [edge(factor), edge(factor)]),
    },
  };
}
