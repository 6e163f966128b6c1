import { existsSync, readFileSync } from 'node:fs';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { DEFAULTS } from './core/limits.js';
import { hubAddress } from './store/hub-address.js';

/** A setting that is missing or wrong. The message is one line that says what to do. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Where an image keeps weights. */
export const DEFAULT_MODEL_DIR = '/server/model';

export const DEFAULT_ENDPOINT = 'https://huggingface.co';

const MEBI = 2 ** 20;

const positive = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
  .refine((value) => value > 0, 'must be above 0');

const wholeNumber = (otherwise: number) => positive.default(otherwise);

/** Timers of Node count to 2^31 - 1 milliseconds; more of them would fire at once. */
const MAX_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

const seconds = (otherwiseMs: number) =>
  positive
    .refine((value) => value <= MAX_SECONDS, `must be at most ${MAX_SECONDS}`)
    .default(otherwiseMs / 1000)
    .transform((value) => value * 1000);

const flag = z
  .enum(['0', '1', 'true', 'false'])
  .default('0')
  .transform((value) => value === '1' || value === 'true');

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a whole number from 1 to 65535')
  .transform(Number)
  .refine((value) => value >= 1 && value <= 65535, 'must be from 1 to 65535')
  .default(80);

/** Without a port or a scheme: those would never match. */
function isHostOrNetwork(entry: string): boolean {
  return ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry) || /^[a-z\d_][\w.-]*$/i.test(entry);
}

const hubEndpoint = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .transform((value) => value.replace(/\/+$/, ''));

const address = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).optional();

/** Every variable that the server reads, with its default. An empty value counts as absent. */
const schema = z.object({
  KEY: z.string().optional(),
  KEY_FILE: z.string().optional(),
  PORT: port,
  /** Address to listen on; all of them unless set. */
  HOST: z.string().optional(),
  DEVICE: z.enum(['auto', 'cuda', 'cpu'], { error: 'must be auto, cuda or cpu' }).default('auto'),
  REQUIRE_KEY: flag,
  HF_HOME: z.string().optional(),
  HF_TOKEN: z.string().optional(),
  HF_TOKEN_FILE: z.string().optional(),
  /** Of a hub or a mirror; may hold a user and a password. */
  HF_ENDPOINT: hubEndpoint.optional(),
  HF_ENDPOINT_FILE: z.string().optional(),
  HF_HUB_OFFLINE: flag,
  MODEL_SPEC: z.string().default('/model.json'),
  /** Only sealed images have it: there no address is asked that the operator's requests don't name. */
  SEALED_MANIFEST: z.string().default('/server/sealed/manifest.json'),
  /** Of sealed images: when the weights are hashed. */
  CHECK_WEIGHTS: z
    .enum(['auto', 'first', 'background'], { error: 'must be auto, first or background' })
    .default('auto'),
  MODEL_DIR: z.string().default(DEFAULT_MODEL_DIR),
  ALLOW_PRIVATE_URLS: z
    .string()
    .default('')
    .transform((value) => value.split(/[\s,]+/).filter(Boolean))
    .refine(
      (entries) => entries.every(isHostOrNetwork),
      'takes host names, addresses and networks like 10.0.0.0/8',
    ),
  ANALYTICS_URL: address,
  UPDATE_URL: address,
  VALIDATE_URL: address,
  /** Set by the images: the user that a server started as root becomes. */
  RUN_AS: positive.optional(),
  THREADS: positive.optional(),
  WORKERS: positive.refine((value) => value <= 64, 'must be at most 64').optional(),
  /** Its default is a share of the memory that the weights leave. */
  CACHE_BYTES: positive.optional(),
  /** Its default depends on the engine. */
  CONCURRENCY: positive.optional(),
  MAX_QUEUE: wholeNumber(DEFAULTS.maxQueue),
  /** Its default depends on the task: tasks with media take longer bodies. */
  MAX_BODY_BYTES: positive.optional(),
  MAX_BODY_VALUES: wholeNumber(DEFAULTS.maxBodyValues),
  /** Its default is a share of the memory. */
  MAX_PENDING_BYTES: positive.optional(),
  MAX_MEDIA_BYTES: wholeNumber(DEFAULTS.maxMediaBytes),
  MAX_PIXELS: wholeNumber(DEFAULTS.maxPixels),
  REQUEST_TIMEOUT: seconds(DEFAULTS.requestTimeoutMs),
  CANCEL_GRACE: seconds(DEFAULTS.cancelGraceMs),
  SHUTDOWN_GRACE: seconds(DEFAULTS.shutdownGraceMs),
  MEDIA_TIMEOUT: seconds(DEFAULTS.mediaTimeoutMs),
  LOG_FORMAT: z.enum(['json', 'text']).default('json'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  INLINE: flag,
  /** Set by `builder serve`: whoever started this holds its stdin open, and it ends with them. */
  UNTIL_STDIN_ENDS: flag,
});

type Secret = 'KEY' | 'KEY_FILE' | 'HF_TOKEN' | 'HF_TOKEN_FILE' | 'HF_ENDPOINT' | 'HF_ENDPOINT_FILE';

/** All settings but the key, which only a server needs. */
export type ServerSettings = Readonly<
  Omit<z.output<typeof schema>, Secret | 'SEALED_MANIFEST'> & {
    HF_ENDPOINT: string;
    HF_TOKEN: string | undefined;
    /** The image holds all weights: neither a hub nor an update notice is asked. */
    sealed: boolean;
    /** Where the record of what was sealed lies, if it is there. */
    sealedRecord: string;
    /** Names of the secrets whose values stand in the environment, where `docker commit` keeps them. */
    exposed: readonly string[];
  }
>;

/** KEY: the operator's key; never empty. */
export type ServerConfig = ServerSettings & Readonly<{ KEY: string }>;

/**
 * Reads, checks and freezes the settings.
 * @throws ConfigError naming the variable; never its value, which may be a secret
 */
export function readServerConfig(env: NodeJS.ProcessEnv): ServerConfig {
  const settings = readServerSettings(env);
  return Object.freeze({ ...settings, KEY: readKey(env.KEY, env.KEY_FILE || undefined) });
}

/** As readConfig, for what serves nobody and so needs no KEY. */
export function readServerSettings(env: NodeJS.ProcessEnv): ServerSettings {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const issue = parsed.error.issues[0]!;
    throw new ConfigError(`${issue.path.join('.')} ${issue.message}`);
  }
  const { KEY, KEY_FILE: _, HF_TOKEN, HF_TOKEN_FILE, HF_ENDPOINT, HF_ENDPOINT_FILE, ...others } = parsed.data;
  const { SEALED_MANIFEST, ...rest } = others;
  const sealed = existsSync(SEALED_MANIFEST);
  const isSecret = HF_ENDPOINT !== undefined && hubAddress(HF_ENDPOINT).authorization !== undefined;
  return Object.freeze({
    ...rest,
    ...(sealed ? { HF_HUB_OFFLINE: true, UPDATE_URL: undefined, VALIDATE_URL: undefined } : {}),
    sealed,
    sealedRecord: SEALED_MANIFEST,
    exposed: Object.keys({
      ...(KEY && { KEY }),
      ...(HF_TOKEN && { HF_TOKEN }),
      ...(isSecret && { HF_ENDPOINT }),
    }),
    HF_TOKEN: HF_TOKEN ?? secretFrom('HF_TOKEN_FILE', HF_TOKEN_FILE),
    HF_ENDPOINT: HF_ENDPOINT ?? endpointFrom(HF_ENDPOINT_FILE) ?? DEFAULT_ENDPOINT,
  });
}

function endpointFrom(file: string | undefined): string | undefined {
  const text = secretFrom('HF_ENDPOINT_FILE', file);
  if (text === undefined) return undefined;
  const parsed = hubEndpoint.safeParse(text);
  if (!parsed.success) throw new ConfigError('HF_ENDPOINT_FILE holds no http(s) address');
  return parsed.data;
}

function readKey(key: string | undefined, file: string | undefined): string {
  const value = key?.trim() || secretFrom('KEY_FILE', file);
  if (value) return value;
  throw new ConfigError(
    'KEY is not set; give any non-empty value (-e KEY=...), or KEY_FILE with a file that holds it',
  );
}

function secretFrom(variable: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    const text = readFileSync(file, 'utf8').slice(0, MEBI).trim();
    if (text) return text;
  } catch (error) {
    throw new ConfigError(
      `${variable} names a file that can't be read (${(error as NodeJS.ErrnoException).code})`,
    );
  }
  throw new ConfigError(`${variable} names a file that is empty`);
}

/**
 * ONNX Runtime 1.30 uploads usage events from Linux, too, and writes a device id to disk, unless this is set before it
 * is loaded. Nothing of ours phones home, so no value from outside can switch it on.
 */
export const NO_TELEMETRY = { ORT_DISABLE_TELEMETRY: '1' } as const;

/**
 * Names like KEY, HF_TOKEN, KEY_FILE, HUGGING_FACE_HUB_TOKEN or AWS_SECRET_ACCESS_KEY, whoever set them; the hub's address
 * may hold a password.
 */
const SECRET = /(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD)(?:_|$)|^HF_ENDPOINT/i;

/**
 * Environment of the engine process: everything but what a model has no business to see.
 * @param arena the engine's sessions keep their own memory. Then malloc only serves the loading, and a fixed mmap
 *   threshold makes it give the file's copy back to the system (50 MB of a 90 MB model otherwise, as it happens);
 *   without an arena the same setting would cost a page fault per tensor and run.
 */
export function engineEnvironment(env: NodeJS.ProcessEnv, arena: boolean): NodeJS.ProcessEnv {
  const visible = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET.test(name)));
  const malloc = arena ? { MALLOC_MMAP_THRESHOLD_: String(2 ** 17) } : {};
  return { ...malloc, ...visible, ...NO_TELEMETRY };
}
