import { type KeyObject, sign, verify } from 'node:crypto';
import type { Bundle } from '@sigstore/bundle';
import { keyHint } from './keys.js';
import { PAYLOAD_TYPE } from './statement.js';

/** Suffix of signature files: `model.tar.gz.sigstore.json`. */
export const BUNDLE_SUFFIX = '.sigstore.json';

/**
 * Signs a statement. The result is a Sigstore bundle 0.3: a DSSE envelope and a key hint, without certificate and log, so
 * it can be verified offline.
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
  // cosign skips signatures with a key id when it is given a key.
  for (const each of bundle.content.dsseEnvelope.signatures) each.keyid = '';
  return `${JSON.stringify(bundleToJSON(bundle), null, 1)}\n`;
}

export type OpenedBundle =
  | { statement: string }
  /** Why the bundle is rejected. */
  | { problem: 'no bundle' | 'no statement' | 'another key' | 'altered'; hint?: string };

/** Opens a bundle signed by `key`. Timestamps and log entries are ignored. */
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

/** The bytes that a DSSE envelope signs: type and payload. */
async function signedBytes(type: string, payload: Buffer): Promise<Buffer> {
  const { dsse } = await import('@sigstore/core');
  return dsse.preAuthEncoding(type, payload);
}
