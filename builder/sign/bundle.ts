import { type KeyObject, sign, verify } from 'node:crypto';
import type { Bundle } from '@sigstore/bundle';
import { keyHint } from './keys.js';
import { PAYLOAD_TYPE } from './statement.js';

/** What signatures of an image are named after: `model.tar.gz.sigstore.json`. */
export const BUNDLE_SUFFIX = '.sigstore.json';

/**
 * Signs a statement. The bundle is Sigstore's, version 0.3: a DSSE envelope and the name of the key; no certificate and
 * no log, so it is verified without a network.
 */
export async function signStatement(statement: string, key: KeyObject): Promise<string> {
  const { toDSSEBundle, bundleToJSON } = await import('@sigstore/bundle');
  const payload = Buffer.from(statement);
  const signature = sign('sha256', await signedBytes(PAYLOAD_TYPE, payload), key);
  const bundle = toDSSEBundle({
    artifact: payload,
    artifactType: PAYLOAD_TYPE,
    signature,
    keyHint: keyHint(key),
  });
  // cosign takes the key that it is given, and skips signatures that name one.
  for (const each of bundle.content.dsseEnvelope.signatures) each.keyid = '';
  return `${JSON.stringify(bundleToJSON(bundle), null, 1)}\n`;
}

export type OpenedBundle =
  | { statement: string }
  /** Why nothing of it is believed. */
  | { problem: 'no bundle' | 'no statement' | 'another key' | 'altered'; hint?: string };

/** What a bundle says, where `key` has signed it. Times and logs that it may name are not looked at. */
export async function openBundle(text: string, key: KeyObject): Promise<OpenedBundle> {
  const bundle = await parseBundle(text);
  if (bundle === undefined) return { problem: 'no bundle' };
  if (bundle.content.$case !== 'dsseEnvelope') return { problem: 'no statement' };
  const { payloadType, payload, signatures } = bundle.content.dsseEnvelope;
  if (payloadType !== PAYLOAD_TYPE) return { problem: 'no statement' };
  const signed = await signedBytes(payloadType, payload);
  if (signatures.some(({ sig }) => verify('sha256', signed, key, sig)))
    return { statement: payload.toString('utf8') };
  const { content } = bundle.verificationMaterial;
  const hint = content.$case === 'publicKey' ? content.publicKey.hint : undefined;
  if (hint === keyHint(key)) return { problem: 'altered' };
  return { problem: 'another key', ...(hint ? { hint } : {}) };
}

async function parseBundle(text: string): Promise<Bundle | undefined> {
  const { bundleFromJSON } = await import('@sigstore/bundle');
  try {
    return bundleFromJSON(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** What a DSSE envelope signs: its payload with its type. */
async function signedBytes(type: string, payload: Buffer): Promise<Buffer> {
  const { dsse } = await import('@sigstore/core');
  return dsse.preAuthEncoding(type, payload);
}
