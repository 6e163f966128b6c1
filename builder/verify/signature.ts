import type { KeyObject } from 'node:crypto';
import { openBundle, type OpenedBundle } from '../sign/bundle.js';
import { keyHint } from '../sign/keys.js';
import { signatureDifferences, parseStatement, type SignedHashes } from '../sign/statement.js';
import { type Step, stepOf } from './proof.js';

/** The signature that is required. */
export interface RequiredSignature {
  key: KeyObject;
  /** Name of the key's file, for messages. */
  keyFile: string;
  /** Expected file of the signature, and its content. */
  file: string;
  bundle: string | undefined;
}

/** The step that fails unless the key has signed exactly this image. */
export async function signatureStep(found: SignedHashes, demanded: RequiredSignature): Promise<Step> {
  const { key, keyFile, file, bundle } = demanded;
  if (bundle === undefined)
    return stepOf('signature', 'none', [
      `${file} is not there: carry it along, name it with --bundle, or have the image signed with "builder snapshot --sign-key"`,
    ]);
  const opened = await openBundle(bundle, key);
  if ('problem' in opened) return stepOf('signature', file, [told(opened, demanded)]);
  const signed = parseStatement(opened.statement);
  if (signed === undefined)
    return stepOf('signature', file, [
      'it signs no sealed image; give the one that "builder snapshot" wrote',
    ]);
  const wrong = signatureDifferences(signed, found);
  if (wrong.length > 0) wrong.push('it is the signature of another image; give the one that came with this');
  return stepOf('signature', `id, manifest and bill of materials are signed with ${keyFile}`, wrong);
}

type Problem = Exclude<OpenedBundle, { statement: string }>;

function told({ problem, hint }: Problem, { key, keyFile }: RequiredSignature): string {
  const named = hint ? ` (${hint})` : '';
  const problems: Record<Problem['problem'], string> = {
    'no bundle': 'it is no bundle as Sigstore has it; copy it again, or give another --bundle',
    'no statement': 'it signs a file and no sealed image; give the one that "builder snapshot" wrote',
    altered: `it was altered: ${keyFile} has not signed what it says; copy it again, and do not use the image until it fits`,
    'another key': `it is signed with another key${named} than ${keyFile} (${keyHint(key)}); give the public key of who sealed it`,
  };
  return problems[problem];
}
