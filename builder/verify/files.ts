import { mergeLayers, type FileSystem } from '../archive/file-system.js';
import { damagedArchive, malformedArchive } from '../archive/errors.js';
import { indexLayer, type LayerEntry, type LayerIndex } from '../archive/layer.js';
import type { ArchiveImage } from '../archive/manifest.js';
import { requireSingleImage } from '../archive/oci.js';
import { type Archive, type ArchiveSource, requireLayers, readArchive } from '../archive/read.js';
import { BuilderError } from '../exit.js';
import { LABEL } from '../images/labels.js';
import { megabytes } from '../report.js';
import { GOLDEN_FILE, type Golden, parseGolden } from '../seal/golden.js';
import {
  parseManifest,
  SBOM_FILE,
  SEALED_DIR,
  SEALED_MANIFEST,
  type SealedManifest,
} from '../seal/manifest.js';
import type { SignedHashes } from '../sign/statement.js';
import { type Step, stepOf } from './proof.js';
import { settingsStep } from './settings.js';

/** Facts from an image's archive, read without running the image. */
export interface ReadImage {
  image: ArchiveImage;
  manifest: SealedManifest;
  golden: Golden;
  /** Hashes that a signature must have. */
  hashes: SignedHashes;
  steps: Step[];
}

const KEPT = new Set([SEALED_MANIFEST, GOLDEN_FILE]);

/**
 * Hashes all files of a sealed image and compares them and the image's configuration with its manifest.
 * @throws BuilderError `refused` when it is not sealed
 */
export async function readSealed(source: ArchiveSource): Promise<ReadImage> {
  const archive = await readArchive(source, (layer) => indexLayer(layer, KEPT));
  if (archive.delta) throw deltaRefused(source.name);
  if (archive.images.length > 1)
    throw malformedArchive(
      source.name,
      `holds ${archive.images.length} images, and one is verified at a time`,
    );
  requireLayers(archive, source.name);
  const image = archive.images[0]!;
  requireSingleImage(source.name, archive, image);
  requireSealed(image.labels, source.name);
  const layers = layersOf(archive, source.name);
  const files = mergeLayers(layers.map(({ entries }) => entries));
  const manifest = parsed(SEALED_MANIFEST, files, parseManifest);
  const golden = parsed(GOLDEN_FILE, files, parseGolden);
  const problems = [
    ...manifestProblems(files, image.labels[LABEL.manifest]),
    ...layerProblems(layers, manifest),
    ...fileProblems(files, manifest),
  ];
  const bytes = manifest.files.reduce((sum, { size }) => sum + size, 0);
  const detail = `${manifest.files.length} files (${megabytes(bytes)}) in ${layers.length} layers against the manifest`;
  const steps = [settingsStep(image, manifest), stepOf('files', detail, problems)];
  const hashOf = (path: string) => files.get(path)?.sha256 ?? '';
  const hashes = {
    image: image.id.slice('sha256:'.length),
    manifest: hashOf(SEALED_MANIFEST),
    sbom: hashOf(SBOM_FILE),
  };
  return { image, manifest, golden, hashes, steps };
}

/** @throws BuilderError `refused` with the remedy */
export function requireSealed(labels: Record<string, string>, name: string): void {
  if (labels[LABEL.sealed] === 'true') return;
  throw new BuilderError(
    'refused',
    `${name} is not sealed; make a sealed image of it with "builder snapshot"`,
  );
}

function deltaRefused(name: string): BuilderError {
  return new BuilderError('refused', `${name} is a delta: "builder load" it, then verify the image`);
}

function layersOf({ images, layers }: Archive<LayerIndex>, name: string): LayerIndex[] {
  return images[0]!.layers.map(({ diffId, member }) => {
    const index = layers.get(member)!;
    if (index.diffId !== diffId)
      throw damagedArchive(name, `has a layer that is not what it should be, ${member}`);
    return index;
  });
}

function parsed<T>(path: string, files: FileSystem, parse: (text: string) => T): T {
  const content = files.get(path)?.content;
  if (!content) throw new BuilderError('failure', `the image is labelled as sealed and has no ${path}`);
  try {
    return parse(content.toString('utf8'));
  } catch (error) {
    const message = `${path} is not as "builder snapshot" writes it; seal the model again`;
    throw new BuilderError('failure', message, { cause: error });
  }
}

function manifestProblems(files: FileSystem, label: string | undefined): string[] {
  const found = files.get(SEALED_MANIFEST)!.sha256;
  return found === label ? [] : [`changed: ${SEALED_MANIFEST} (${found}, and the label says ${label})`];
}

/** Parent folders of the sealing layer's files. */
const SEAL_FOLDERS = new Set(['/', '/server', SEALED_DIR]);

/** Checks that all layers below the sealing layer are unchanged and that it is the last. */
function layerProblems(layers: readonly LayerIndex[], { base }: SealedManifest): string[] {
  const below = layers.slice(0, base.layers.length);
  const changed = base.layers
    .filter((layer, index) => below[index]?.diffId !== layer)
    .map((layer) => `changed or missing: layer ${layer}`);
  const [seal, ...above] = layers.slice(base.layers.length);
  const extra = above.map(({ diffId }) => `added: layer ${diffId}`);
  const strange = (seal?.entries ?? [])
    .filter(
      ({ path, type }) =>
        !(type === 'directory' ? SEAL_FOLDERS.has(path) : path.startsWith(`${SEALED_DIR}/`)),
    )
    .map(({ path }) => `added: ${path} (in the sealing layer)`);
  return [...changed, ...extra, ...strange];
}

function fileProblems(files: FileSystem, manifest: SealedManifest): string[] {
  const listed = new Map(manifest.files.map((file) => [file.path, file]));
  const wrong = manifest.files.flatMap(({ path, size, sha256 }) => {
    const found = files.get(path);
    if (found?.type !== 'file') return [`missing: ${path}`];
    return found.sha256 === sha256 && found.size === size ? [] : [`changed: ${path}`];
  });
  const added = [...files.values()].filter((entry) => isOurs(entry) && !listed.has(entry.path));
  return [...wrong, ...added.map(({ path }) => `added: ${path}`)];
}

function isOurs({ path, type }: LayerEntry): boolean {
  return type !== 'directory' && path.startsWith('/server/') && path !== SEALED_MANIFEST;
}
