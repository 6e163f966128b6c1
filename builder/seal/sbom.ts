import { Contrib, Enums, Models, Serialize, Spec } from '@cyclonedx/cyclonedx-library';
import type { ModelSpec } from '../../runtime/core/spec.js';
import type { SealedFile } from './manifest.js';
import type { OperatingSystem, Package } from './packages.js';

/** The program that runs the server. */
export interface NodeProgram {
  /** In the image. */
  path: string;
  /** Undefined if neither the binary nor the image says. */
  version: string | undefined;
  sha256: string;
}

export interface SbomParts {
  /** The model; none in a runtime image. */
  spec?: ModelSpec;
  /** Of the image, where it has no model. */
  version?: string;
  /** Repository of the image. */
  image: string;
  /** The model's own files, hashed. */
  weights: readonly SealedFile[];
  packages: readonly Package[];
  node?: NodeProgram | undefined;
  system?: OperatingSystem | undefined;
}

/**
 * The bill of materials of an image in CycloneDX 1.6: the model, each of its files with commit, hash and licence,
 * Node.js, the operating system, and the packages of both. The same parts give the same text: it holds no time and no serial number.
 */
export function sbomOf({ spec, image, version, weights, packages, node, system }: SbomParts): string {
  const { Bom, Component, Metadata } = Models;
  const bom = new Bom({
    metadata: new Metadata({
      component: new Component(Enums.ComponentType.Container, image, {
        ...{ version: spec?.commit ?? version ?? '', bomRef: 'image' },
      }),
    }),
  });
  if (spec) addModel(bom, spec, weights);
  if (node) bom.components.add(nodeOf(node));
  if (system) bom.components.add(systemOf(system));
  for (const each of packages) bom.components.add(packageOf(each));
  const normalizers = new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6);
  const serializer = new Serialize.JsonSerializer(normalizers);
  return `${serializer.serialize(bom, { sortLists: true, space: 1 })}\n`;
}

function addModel(bom: Models.Bom, spec: ModelSpec, weights: readonly SealedFile[]): void {
  const model = modelOf(spec);
  bom.components.add(model);
  for (const file of weights) {
    const component = weightOf(file, spec);
    bom.components.add(component);
    model.dependencies.add(component.bomRef);
  }
}

function modelOf(spec: ModelSpec): Models.Component {
  const purl = `pkg:huggingface/${spec.id}@${spec.commit}`;
  return new Models.Component(Enums.ComponentType.MachineLearningModel, spec.id, {
    version: spec.commit,
    bomRef: purl,
    purl,
    licenses: licensesOf(spec.license),
    properties: properties({
      ...{ commit: spec.commit, task: spec.task, dtype: spec.dtype },
      ...(spec.likeness !== undefined && { likeness: String(spec.likeness) }),
      ...(spec.perplexity && {
        perplexity: String(spec.perplexity.packed),
        'perplexity-unpacked': String(spec.perplexity.plain),
      }),
      ...(spec.base && { base: `pkg:huggingface/${spec.base.id}@${spec.base.commit}` }),
    }),
  });
}

function weightOf({ path, sha256 }: SealedFile, spec: ModelSpec): Models.Component {
  const hashes = new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]);
  return new Models.Component(Enums.ComponentType.File, path, {
    version: spec.commit,
    bomRef: `file:${path}`,
    hashes,
    licenses: licensesOf(spec.license),
    properties: properties({ model: spec.id, commit: spec.commit }),
  });
}

function packageOf({ name, version, license, kind, qualifiers }: Package): Models.Component {
  const purl = `pkg:${kind}/${name.replace(/^@/, '%40')}@${encodeURIComponent(version)}${query(qualifiers)}`;
  const licenses = licensesOf(license);
  return new Models.Component(Enums.ComponentType.Library, name, { version, bomRef: purl, purl, licenses });
}

/** Qualifiers in the order required for package URLs. */
function query(qualifiers: Record<string, string> = {}): string {
  const pairs = Object.entries(qualifiers).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([name, value], at) => `${at ? '&' : '?'}${name}=${encodeURIComponent(value)}`).join('');
}

/** With the names that vulnerability databases use. */
function nodeOf({ path, version, sha256 }: NodeProgram): Models.Component {
  const known = version !== undefined && {
    version,
    purl: `pkg:generic/node@${version}`,
    cpe: `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`,
  };
  return new Models.Component(Enums.ComponentType.Platform, 'node', {
    ...known,
    bomRef: `file:${path}`,
    hashes: new Models.HashDictionary([[Enums.HashAlgorithm['SHA-256'], sha256]]),
    licenses: licensesOf('MIT'),
    properties: properties({ path }),
  });
}

function systemOf({ id, version }: OperatingSystem): Models.Component {
  const known = version === undefined ? {} : { version };
  return new Models.Component(Enums.ComponentType.OperatingSystem, id, { ...known, bomRef: 'system' });
}

function properties(values: Record<string, string>): Models.PropertyRepository {
  const all = Object.entries(values).map(([name, value]) => new Models.Property(`io.slipway:${name}`, value));
  return new Models.PropertyRepository(all);
}

/** Anything that is not an SPDX id (in any case) is kept as a name. */
function licensesOf(license: string | undefined): Models.LicenseRepository {
  if (license === undefined || license === '') return new Models.LicenseRepository();
  const factory = new Contrib.License.Factories.LicenseFactory(refuseExpression);
  return new Models.LicenseRepository([factory.makeFromString(license)]);
}

/** Expressions like "MIT OR Apache-2.0" are kept as names, too. */
function refuseExpression(): void {
  throw new Error('not read as an expression');
}
