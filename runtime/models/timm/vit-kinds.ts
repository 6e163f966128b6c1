import { GraphError } from '../writer/errors.js';

/** Heads of attention, which no tensor tells, by the size that a name has. */
const HEADS: Readonly<Record<string, number>> = {
  ...{ tiny: 3, xsmall: 4, wee: 4, little: 5, small: 6, medium: 8, mediumd: 8, betwixt: 10, base: 12 },
  ...{ so150m2: 13, so150m: 14, large: 16, so400m: 16, huge: 16, giant: 16, giantopt: 16, gigantic: 16 },
};

/** Those of names that are unlike others of their size. */
const OWN_HEADS: Readonly<Record<string, number>> = {
  ...{ vit_base_patch16_gap_224: 16, test_vit: 2, test_vit2: 2 },
};

/** SigLIP's second version, with Gelu by tanh; those of other sizes have the first one's. */
const TANH = /_(?:so400m_patch16|base_patch32|giantopt_patch16)_siglip_|_large_patch16_siglip_(?:gap_)?512$/;

/** What the name of a vision transformer says beside its sizes. */
export interface VitKind {
  heads: number;
  act: string;
  epsilon: number;
  /** Means of patches are pooled also where no norm stands behind them. */
  isMean: boolean;
}

/** @throws GraphError for a size that is not known */
export function vitKind(architecture: string): VitKind {
  const heads = OWN_HEADS[architecture] ?? HEADS[architecture.split('_')[1] ?? ''];
  if (heads === undefined) throw new GraphError(`config.json: the sizes of ${architecture} are not known`);
  const quick = architecture.includes('_quickgelu_') ? 'quick_gelu' : undefined;
  return {
    ...{ heads, epsilon: architecture.includes('_clip_') ? 1e-5 : 1e-6 },
    act: quick ?? (TANH.test(architecture) ? 'gelu_pytorch_tanh' : 'gelu'),
    isMean: architecture.includes('_gap_'),
  };
}

export interface EvaKind {
  heads: number;
  epsilon: number;
  isMean: boolean;
  /** How heads of patches are rotated by their positions: from the middle, or as in a grid of 16 x 16. */
  turns: 'centred' | 'referred' | undefined;
}

/** The same of timm's eva.py. @throws GraphError for a size that is not known */
export function evaKind(architecture: string): EvaKind {
  const isCentred = architecture.includes('_dinov3');
  const isClip = architecture.includes('_clip_');
  const { heads } = architecture.startsWith('vit_huge_plus_') ? { heads: 20 } : vitKind(architecture);
  const turnsAsGrid = architecture.startsWith('eva02_') || architecture.includes('_rope_reg');
  return {
    ...{ heads, epsilon: isCentred ? 1e-5 : 1e-6, isMean: !isClip },
    turns: isCentred ? 'centred' : turnsAsGrid ? 'referred' : undefined,
  };
}
