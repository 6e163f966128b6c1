import * as z from 'zod';
import { SBOM_FILE, SEALED_MANIFEST } from '../seal/manifest.js';

/** in-toto predicate type of the statement; for cosign's --type. */
export const PREDICATE_TYPE = 'urn:io.slipway:sealed:v1';
export const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const STATEMENT_TYPE = 'https://in-toto.io/Statement/v1';

/** Names of the statement's subjects. */
const SUBJECTS = { image: 'image', manifest: SEALED_MANIFEST, sbom: SBOM_FILE } as const;
type SubjectName = keyof typeof SUBJECTS;

/** Signed hashes of an image: hex SHA-256 of its configuration and of two of its files. */
export type SignedHashes = Record<SubjectName, string>;

export interface SignedModel {
  model: string;
  commit: string;
  task: string;
  platform: string;
}

const schema = z.object({
  _type: z.literal(STATEMENT_TYPE),
  predicateType: z.literal(PREDICATE_TYPE),
  subject: z.array(
    z.object({ name: z.string(), digest: z.object({ sha256: z.string().regex(/^[0-9a-f]{64}$/) }) }),
  ),
});

/** The in-toto statement to be signed. Equal input gives equal text. */
export function formatStatement(hashes: SignedHashes, about: SignedModel): string {
  const subject = Object.entries(SUBJECTS).map(([key, name]) => ({
    name,
    digest: { sha256: hashes[key as SubjectName] },
  }));
  const { model, commit, task, platform } = about;
  const predicate = { model, commit, task, platform };
  return `${JSON.stringify({ _type: STATEMENT_TYPE, subject, predicateType: PREDICATE_TYPE, predicate }, null, 1)}\n`;
}

/** The hashes in a statement; undefined for statements of another type. */
export function parseStatement(text: string): Partial<SignedHashes> | undefined {
  const parsed = schema.safeParse(json(text));
  if (!parsed.success) return undefined;
  const { subject } = parsed.data;
  const found = Object.entries(SUBJECTS).flatMap(([key, wanted]) => {
    const named = subject.filter(({ name }) => name === wanted);
    return named.length === 1 ? [[key, named[0]!.digest.sha256]] : [];
  });
  return Object.fromEntries(found) as Partial<SignedHashes>;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const TOLD: Record<SubjectName, string> = {
  image: 'the image',
  manifest: 'its sealed manifest',
  sbom: 'its bill of materials',
};

/** Differences from the signed hashes, a line each. */
export function signatureDifferences(signed: Partial<SignedHashes>, found: SignedHashes): string[] {
  return (Object.keys(SUBJECTS) as SubjectName[])
    .filter((name) => signed[name] !== found[name])
    .map((name) =>
      signed[name] === undefined
        ? `${TOLD[name]} is not in what was signed`
        : `${TOLD[name]} is sha256:${found[name]}, and sha256:${signed[name]} was signed`,
    );
}
