import { defineFamily } from '../family.js';
import { activation } from '../layers/activation.js';
import { batchNorm, convolution } from '../layers/convolution.js';
import { imageInput } from '../layers/patch-embed.js';
import { squeezeExcitation } from '../layers/squeeze-excitation.js';
import type { GraphWriter, Value } from '../writer/graph-writer.js';
import { countOf, IMAGE, shapeOf, timmHeads, type TimmConfig, timmConfig } from './config.js';

/** What an architecture's name says, and its tensors don't. */
interface Kind {
  /** Of the first layer of each stage. */
  strides: readonly number[];
  act: string;
  /** Stages that have Relu instead. */
  plainStages: number;
  /** Of squeeze and excitation: between its layers, and at its end. */
  squeezeAct: string;
  gate: 'sigmoid' | 'hard_sigmoid';
  /** Padded as TensorFlow does it, whose norms have another epsilon. */
  isTensorFlow: boolean;
  /** The last convolution reads the means. */
  poolsFirst: boolean;
}

const LONG = [1, 2, 2, 2, 1, 2, 1];

/** Kinds by names without "tf_"; EfficientNet's own for others. */
const KINDS: readonly (readonly [RegExp, Partial<Kind>])[] = [
  [
    /^mobilenetv3_/,
    { act: 'hard_swish', squeezeAct: 'relu', gate: 'hard_sigmoid', poolsFirst: true, plainStages: 3 },
  ],
  [/^mobilenetv3_small_/, { strides: [2, 2, 2, 1, 2, 1], plainStages: 2 }],
  [/^mobilenetv3_.*_minimal_/, { act: 'relu' }],
  [/^mobilenetv2_|_lite\d$/, { act: 'relu6' }],
  [/^(?:se)?mnasnet_|^spnasnet_|^fbnetc_/, { act: 'relu' }],
  [/^efficientnet_e[sml]$/, { act: 'relu', strides: [1, 2, 2, 2, 1, 2] }],
  [/^test_efficientnet$/, { strides: [1, 2, 2, 2, 2] }],
];

function kindOf({ architecture }: TimmConfig): Kind {
  const isTensorFlow = architecture.startsWith('tf_');
  const name = architecture.replace(/^tf_/, '');
  const known = KINDS.filter(([names]) => names.test(name)).map(([, kind]) => kind);
  const { act, ...kind }: Omit<Kind, 'squeezeAct'> = Object.assign(
    { isTensorFlow, act: 'silu', strides: LONG, plainStages: 0, gate: 'sigmoid', poolsFirst: false },
    ...known,
  );
  return { squeezeAct: act, act, ...kind };
}

interface Step {
  name: string;
  norm: string;
  stride?: number;
  /** Each channel by itself. */
  apart?: boolean;
  /** The activation that follows; none if absent. */
  act?: string | undefined;
}

/** A convolution of the size that its weight has, its norm and an activation. */
function normed(
  g: GraphWriter,
  x: Value,
  { isTensorFlow }: Kind,
  { name, norm, stride = 1, apart = false, act }: Step,
): Value {
  const [to, each, kernel] = shapeOf(g, `${name}.weight`, 4);
  const edge = Math.floor((kernel - 1) / 2);
  const found = convolution(g, x, name, {
    ...{ from: apart ? to : each, to, kernel: [kernel, kernel], stride: [stride, stride], bias: false },
    ...{ padding: isTensorFlow ? 'same' : [edge, edge], groups: apart ? to : 1 },
  });
  const even = batchNorm(g, found, norm, { width: to, epsilon: isTensorFlow ? 1e-3 : 1e-5 });
  return act === undefined ? even : activation(g, even, act);
}

interface Place {
  kind: Kind;
  at: (name: string) => string;
  stride: number;
  act: string;
}

/** Channels that a block gives, as wide as what it reads where what it reads is added. */
function block(g: GraphWriter, x: Value, from: number, { kind, at, stride, act }: Place) {
  const step = (value: Value, part: string, norm: number, more: Omit<Step, 'name' | 'norm'>) =>
    normed(g, value, kind, { name: at(part), norm: at(`bn${norm}`), ...more });
  const squeezed = (value: Value) => squeeze(g, value, at('se'), kind);
  const has = (part: string) => g.weights.has(at(`${part}.weight`));
  const names = ['conv', 'conv_pwl', 'conv_pw'];
  const last = names.find(has) ?? 'conv_pw';
  const [to] = shapeOf(g, at(`${last}.weight`), 4);
  let found: Value;
  if (last === 'conv') found = step(x, 'conv', 1, { stride, act });
  else if (has('conv_exp'))
    found = step(squeezed(step(x, 'conv_exp', 1, { stride, act })), 'conv_pwl', 2, {});
  else if (last === 'conv_pwl') {
    const wide = step(x, 'conv_pw', 1, { act });
    found = step(squeezed(step(wide, 'conv_dw', 2, { stride, apart: true, act })), 'conv_pwl', 3, {});
  } else found = step(squeezed(step(x, 'conv_dw', 1, { stride, apart: true, act })), 'conv_pw', 2, {});
  return { x: from === to && stride === 1 ? g.node('Add', [found, x]) : found, width: to };
}

function squeeze(g: GraphWriter, x: Value, name: string, { squeezeAct: act, gate }: Kind): Value {
  const [narrow, wide] = ['conv_reduce', 'conv_expand'].map((part) => `${name}.${part}`) as [string, string];
  if (!g.weights.has(`${narrow}.weight`)) return x;
  const [inner, width] = shapeOf(g, `${narrow}.weight`, 4);
  return squeezeExcitation(g, x, { narrow, wide, width, inner, act, gate });
}

function states(g: GraphWriter, c: TimmConfig): Value {
  const kind = kindOf(c);
  const [first, channels] = shapeOf(g, 'conv_stem.weight', 4);
  const pixels = imageInput(g, channels);
  let x = normed(g, pixels, kind, { name: 'conv_stem', norm: 'bn1', stride: 2, act: kind.act });
  let width = first;
  const stages = countOf(g, (stage) => `blocks.${stage}.0.bn1.weight`);
  for (let stage = 0; stage < stages; stage++) {
    const count = countOf(g, (place) => `blocks.${stage}.${place}.bn1.weight`);
    const act = stage < kind.plainStages ? 'relu' : kind.act;
    for (let i = 0; i < count; i++) {
      const stride = i === 0 ? (kind.strides[stage] ?? 1) : 1;
      const at = (name: string) => `blocks.${stage}.${i}.${name}`;
      ({ x, width } = block(g, x, width, { kind, at, stride, act }));
    }
  }
  if (kind.poolsFirst) return x;
  return normed(g, x, kind, { name: 'conv_head', norm: 'bn2', act: kind.act });
}

function pool(g: GraphWriter, x: Value, c: TimmConfig): Value {
  const { poolsFirst, act } = kindOf(c);
  const mean = g.node('GlobalAveragePool', [x]);
  if (!poolsFirst) return g.node('Flatten', [mean]);
  const [to, from] = shapeOf(g, 'conv_head.weight', 4);
  const bias = g.weights.has('conv_head.bias');
  const found = convolution(g, mean, 'conv_head', { from, to, kernel: [1, 1], bias });
  return g.node('Flatten', [activation(g, found, act)]);
}

/** timm's efficientnet.py and mobilenetv3.py: EfficientNet of both versions and its small relatives, MnasNet, FBNet-C, MobileNetV2 and MobileNetV3. */
export const timmEfficientnet = defineFamily({
  modelTypes: ['timm_efficientnet'],
  usualTask: 'image-classification',
  config: timmConfig,
  prefixes: ['timm_model.'],
  heads: timmHeads({
    shape: IMAGE,
    states,
    pool,
    head: 'classifier',
  }),
});
