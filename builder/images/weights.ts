import path from 'node:path';
import type { ModelSpec } from '../../runtime/core/spec.js';
import { entryOf, formatManifest, MANIFEST_NAME } from '../../runtime/store/manifest.js';
import { downloadDir } from '../../runtime/store/paths.js';
import { type ContextEntry, FIXED_MTIME } from './tar.js';

/**
 * Entries of the build context for a model's verified files, in the layout that the server expects, with a manifest so
 * that it need not hash them. Files are only named here and streamed later.
 * @param dir folder with all files of the spec, from ensureWeights
 */
export function weightEntries(spec: Pick<ModelSpec, 'id' | 'commit' | 'files'>, dir: string): ContextEntry[] {
  const target = downloadDir('weights/server/model', spec).split(path.sep).join('/');
  const files = spec.files.map(({ path: name, size }) => ({
    path: `${target}/${name}`,
    content: { file: path.join(dir, ...name.split('/')), size },
  }));
  const verified = spec.files.map((file) => [file.path, entryOf(file, FIXED_MTIME * 1000)] as const);
  const manifest = {
    path: `${target}/${MANIFEST_NAME}`,
    content: formatManifest(Object.fromEntries(verified)),
  };
  return [{ path: 'weights/server/model/', mode: 0o1777 }, ...files, manifest];
}
