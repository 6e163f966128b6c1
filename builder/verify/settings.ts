import type { ArchiveImage } from '../archive/manifest.js';
import type { SealedManifest } from '../seal/manifest.js';
import { type ContainerSettings, sealedSettings } from '../seal/settings.js';
import { type Step, stepOf } from './proof.js';

/** The step that compares the image's container settings with the sealed ones. */
export function settingsStep({ settings, platform }: ArchiveImage, manifest: SealedManifest): Step {
  const [found, sealed] = [sealedSettings(settings), manifest.config];
  const names = [...new Set([...Object.keys(sealed), ...Object.keys(found)])].sort();
  const problems = names.flatMap((name) => problemsOf(name, found[name], sealed[name]));
  if (platform !== manifest.platform)
    problems.push(`changed: platform is ${platform}, and was ${manifest.platform}`);
  const count = Object.keys(sealed).length;
  return stepOf(
    'config',
    `${count} settings (entrypoint, environment, labels, …) against the manifest`,
    problems,
  );
}

function problemsOf(name: string, found: unknown, sealed: unknown): string[] {
  if (text(found) === text(sealed)) return [];
  if (name === 'Env') return environmentProblems(linesOf(found), linesOf(sealed));
  if (name === 'Labels')
    return namedProblems(
      'label',
      (found ?? {}) as ContainerSettings,
      (sealed ?? {}) as ContainerSettings,
      (value) => `: ${value}`,
    );
  return [`changed: ${name} is ${short(found)}, and was ${short(sealed)}`];
}

/** Values of variables may be secrets, so they are never shown. */
function environmentProblems(found: readonly string[], sealed: readonly string[]): string[] {
  const byName = (lines: readonly string[]): ContainerSettings =>
    Object.fromEntries(lines.map((line) => /^([^=]*)=?(.*)$/s.exec(line)!.slice(1) as [string, string]));
  const problems = namedProblems('variable', byName(found), byName(sealed), () => '');
  return problems.length > 0 ? problems : ['changed: order of the variables, or one of them twice'];
}

function linesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function namedProblems(
  kind: string,
  found: ContainerSettings,
  sealed: ContainerSettings,
  tell: (value: string) => string,
): string[] {
  const names = [...new Set([...Object.keys(sealed), ...Object.keys(found)])].sort();
  return names.flatMap((name) => {
    if (!Object.hasOwn(found, name)) return [`missing: ${kind} ${name}`];
    if (!Object.hasOwn(sealed, name)) return [`added: ${kind} ${name}${tell(short(found[name]))}`];
    if (text(found[name]) === text(sealed[name])) return [];
    return [`changed: ${kind} ${name}${tell(short(found[name]))}`];
  });
}

const text = (value: unknown) => JSON.stringify(value) ?? 'nothing';

const LONGEST = 100;

function short(value: unknown): string {
  const told = text(value);
  return told.length > LONGEST ? `${told.slice(0, LONGEST)}…` : told;
}
