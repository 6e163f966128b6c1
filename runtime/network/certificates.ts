import { readFileSync } from 'node:fs';
import { createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { BUNDLE_VARIABLES, type OutgoingSettings, readOutgoingSettings } from './outgoing-settings.js';

/** Options of `tls.connect`; empty where Node's own defaults are enough. */
export interface TlsTrust {
  secureContext?: SecureContext;
}

/** Settings whose files have been read. */
export interface Outgoing {
  settings: OutgoingSettings;
  trust: TlsTrust;
}

/** Reads the variables and the files that they name. @throws the error of `fail`, which names the variable only */
export function readOutgoing(env: NodeJS.ProcessEnv, fail: (message: string) => Error): Outgoing {
  const settings = readOutgoingSettings(env, fail);
  return { settings, trust: readTrust(settings, fail) };
}

/**
 * Trust in the public certificate authorities and in those of the operator's bundles. NODE_EXTRA_CA_CERTS alone is left to
 * Node.js, which reads it at the start of the process.
 * @throws the error of `fail`, which names the variable, for a file that can't be read or holds no certificate
 */
export function readTrust({ bundles }: OutgoingSettings, fail: (message: string) => Error): TlsTrust {
  const texts = Object.entries(bundles).map(([name, file]) => readBundle(name, file, fail));
  if (Object.keys(bundles).every((name) => name === BUNDLE_VARIABLES[0])) return {};
  try {
    return { secureContext: createSecureContext({ ca: [...rootCertificates, ...texts] }) };
  } catch (error) {
    const names = Object.keys(bundles).join(' or ');
    throw fail(`${names} holds a certificate that can't be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

function readBundle(name: string, file: string, fail: (message: string) => Error): string {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw fail(
      `${name} names a file that can't be read (${code}); in a container, mount the bundle at this path, or unset it`,
    );
  }
  if (/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw fail(`${name} names a file without a certificate in PEM`);
}
