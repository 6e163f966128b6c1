import { PLAIN_VARIABLES, SECRET_VARIABLES } from '../../runtime/tracing/variables.js';

/** OpenTelemetry's variables for containers, so that a call is one trace. */
export interface ContainerTracing {
  env: Readonly<Record<string, string>>;
  /** Headers, and addresses with a password: given as files, for `docker inspect` shows variables. */
  secrets: Readonly<Record<string, string>>;
  /** Why containers record nothing although the gateway does. */
  problem?: string;
}

const NOTHING: ContainerTracing = { env: {}, secrets: {} };

/** This machine's own names mean the container itself inside of one. */
const LOCAL = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * What the gateway's own variables mean for containers. The name of the service is not passed on: theirs is that of the
 * model.
 * @param read the value of a variable, or of the file that is given in its place
 */
export function containerTracing(
  env: NodeJS.ProcessEnv,
  read: (name: (typeof SECRET_VARIABLES)[number]) => string | undefined,
): ContainerTracing {
  const secret = SECRET_VARIABLES.map((name) => [name, read(name)] as const).filter(isGiven);
  const addresses = secret.filter(([name]) => name.endsWith('_ENDPOINT'));
  if (addresses.length === 0) return NOTHING;
  if (addresses.some(([, address]) => LOCAL.test(URL.parse(address)?.hostname ?? '')))
    return {
      ...NOTHING,
      problem:
        'containers record no traces: the collector is at an address of this machine that means themselves to them; ' +
        'give OTEL_EXPORTER_OTLP_ENDPOINT a name that they can reach',
    };
  const isHidden = ([name, value]: readonly [string, string]) =>
    !name.endsWith('_ENDPOINT') || URL.parse(value)?.username !== '' || URL.parse(value)?.password !== '';
  const plain = PLAIN_VARIABLES.map((name) => [name, env[name]] as const).filter(isGiven);
  return {
    env: Object.fromEntries([...plain, ...secret.filter((pair) => !isHidden(pair))]),
    secrets: Object.fromEntries(secret.filter(isHidden)),
  };
}

const isGiven = <N extends string>(pair: readonly [N, string | undefined]): pair is readonly [N, string] =>
  pair[1] !== undefined && pair[1] !== '';
