import { createHash } from 'node:crypto';
import path from 'node:path';
import type { RepoFile } from '../../runtime/core/spec.js';
import { MANIFEST_NAME } from '../../runtime/store/manifest.js';
import type { Docker, ImageDetails } from '../docker/docker.js';
import type { BuildPlan, ModelContext } from '../images/model-plan.js';
import type { ContextEntry } from '../images/tar.js';
import { basePartsOf } from './base-image.js';
import { formatGolden, type Golden } from './golden.js';
import {
  formatSealedManifest,
  SEALED_DIR,
  type SealedFile,
  hashLayerFiles,
  sealedManifest,
} from './manifest.js';
import type { Notices } from './notices.js';
import { sealedSettings, withLabels } from './settings.js';
import { bundledPackages, shippedPackages } from './packages.js';

/** Folder of the build context that becomes the sealing layer. */
const LAYER = `sealed${SEALED_DIR}`;

export interface ContentsOptions {
  plan: BuildPlan;
  context: ModelContext;
  notices: Notices;
  /** Files of the layers below: runtime image and weights. */
  layers: { runtime: readonly ContextEntry[]; weights: readonly ContextEntry[] };
  /** The image that is sealed. */
  image: ImageDetails;
  golden: Golden;
  /** Labels added by sealing. */
  labels: readonly (readonly [string, string])[];
  packageRoot: string;
}

export interface SealContents {
  /** Members of the build context. */
  entries: ContextEntry[];
  /** Hex SHA-256 of the manifest. */
  manifestSha256: string;
}

/** The files of the sealing layer: manifest, golden record, bill of materials, licence and model card. */
export async function sealContents(options: ContentsOptions, docker: Docker): Promise<SealContents> {
  const { plan, notices, layers, image, golden } = options;
  const weights = await hashLayerFiles(layers.weights);
  const sbom = await bomOf(options, { weights, docker });
  const own = [
    { path: `${LAYER}/golden.json`, content: formatGolden(golden) },
    { path: `${LAYER}/sbom.cdx.json`, content: sbom },
    ...notices.files.map((file) => noticeEntry(file, notices.dir)),
  ];
  const model = { path: 'root/model.json', content: options.context.files['model.json']! };
  const files = [...(await hashLayerFiles([...layers.runtime, model, ...own])), ...weights];
  const config = sealedSettings(withLabels(image.settings, options.labels));
  const { spec, platform } = plan;
  const manifest = formatSealedManifest(
    sealedManifest({ spec, platform, config, layers: image.layers, files }),
  );
  return {
    entries: [...own, { path: `${LAYER}/manifest.json`, content: manifest }],
    manifestSha256: createHash('sha256').update(manifest).digest('hex'),
  };
}

function noticeEntry({ path: name, size }: RepoFile, dir: string): ContextEntry {
  return { path: `${LAYER}/${name}`, content: { file: path.join(dir, name), size } };
}

async function bomOf(
  { plan, layers, image, packageRoot }: ContentsOptions,
  { weights, docker }: { weights: readonly SealedFile[]; docker: Docker },
): Promise<string> {
  const base = await basePartsOf(docker, image);
  const packages = [
    ...(await bundledPackages(packageRoot)),
    ...(await shippedPackages(layers.runtime)),
    ...base.packages,
  ];
  const model = weights.filter((file) => !file.path.endsWith(`/${MANIFEST_NAME}`));
  // Loaded here, because its library is not needed by other commands.
  const { sbomOf } = await import('./sbom.js');
  const parts = { spec: plan.spec, image: plan.image.repository, weights: model };
  return sbomOf({ ...parts, ...base, packages });
}
