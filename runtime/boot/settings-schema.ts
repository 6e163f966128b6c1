import ipaddr from 'ipaddr.js';
import * as z from 'zod';
import { DEFAULTS } from '../core/limits.js';
import { CACHE_TYPES, PRECISIONS } from '../core/load-request.js';
import { moderationFlags } from '../dialects/moderation-flags.js';
import { parseOrigins } from '../wire/origins.js';

/** Folder for weights in images. */
export const DEFAULT_MODEL_DIR = '/server/model';

const positive = z
  .string()
  .regex(/^\d{1,15}$/, 'must be a whole number')
  .transform(Number)
  .refine((value) => value > 0, 'must be above 0');

const wholeNumber = (otherwise: number) => positive.default(otherwise);

/** Node's timers fire at once beyond 2^31 - 1 milliseconds. */
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

const flagThatIsOn = z
  .enum(['0', '1', 'true', 'false'])
  .default('1')
  .transform((value) => value === '1' || value === 'true');

/** Undefined where it is no JSON, which no schema takes. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a whole number from 1 to 65535')
  .transform(Number)
  .refine((value) => value >= 1 && value <= 65535, 'must be from 1 to 65535')
  .default(80);

/** Refuses ports and schemes, which would never match. */
function isHostOrNetwork(entry: string): boolean {
  return ipaddr.isValid(entry) || ipaddr.isValidCIDR(entry) || /^[a-z\d_][\w.-]*$/i.test(entry);
}

export const hubEndpoint = z
  .url({ protocol: /^https?$/, error: 'must be an http(s) address' })
  .transform((value) => value.replace(/\/+$/, ''));

const address = z.url({ protocol: /^https?$/, error: 'must be an http(s) address' }).optional();

/** Every variable that the server reads, with its default. */
export const settingsSchema = z.object({
  KEY: z.string().optional(),
  KEY_FILE: z.string().optional(),
  PORT: port,
  /** Address to listen on; by default all. */
  HOST: z.string().optional(),
  DEVICE: z.enum(['auto', 'cuda', 'cpu'], { error: 'must be auto, cuda or cpu' }).default('auto'),
  /** Of packed weights whose export does not say it. */
  PRECISION: z.enum(PRECISIONS, { error: 'must be exact or fast' }).default('fast'),
  REQUIRE_KEY: flag,
  /** A page at / for people. */
  PLAYGROUND: flagThatIsOn,
  HF_HOME: z.string().optional(),
  HF_TOKEN: z.string().optional(),
  HF_TOKEN_FILE: z.string().optional(),
  /** Address of the hub or a mirror; may have a user and a password. */
  HF_ENDPOINT: hubEndpoint.optional(),
  HF_ENDPOINT_FILE: z.string().optional(),
  HF_HUB_OFFLINE: flag,
  /** Read by network/outgoing-settings.ts, as are their names in lower case. */
  HTTP_PROXY: z.string().optional(),
  HTTPS_PROXY: z.string().optional(),
  ALL_PROXY: z.string().optional(),
  NO_PROXY: z.string().optional(),
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  SSL_CERT_FILE: z.string().optional(),
  REQUESTS_CA_BUNDLE: z.string().optional(),
  MODEL_SPEC: z.string().default('/model.json'),
  /** Exists in sealed images only, which connect to nothing except addresses in requests. */
  SEALED_MANIFEST: z.string().default('/server/sealed/manifest.json'),
  /** When to hash the weights; sealed images only. */
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
  /** Of pages that may call from a browser. */
  ALLOW_ORIGINS: z
    .string()
    .default('')
    .refine((value) => parseOrigins(value) !== undefined, 'takes origins like https://app.example, or *')
    .transform((value) => parseOrigins(value)!),
  /** Labels that flag a text, for moderations. */
  MODERATION_FLAGS: z.string().transform(parseJson).pipe(moderationFlags).optional(),
  ANALYTICS_URL: address,
  UPDATE_URL: address,
  VALIDATE_URL: address,
  /** Set by images: the user to switch to if started as root. */
  RUN_AS: positive.optional(),
  THREADS: positive.optional(),
  WORKERS: positive.refine((value) => value <= 64, 'must be at most 64').optional(),
  /** Default: a share of the memory beside the weights. */
  CACHE_BYTES: positive.optional(),
  /** Of llama.cpp: tokens in the cache, of all texts together. Default: as memory and the model allow. */
  CONTEXT_LENGTH: positive.optional(),
  /** Of llama.cpp. Default: f32 for weights of 32 bits, else f16. */
  CACHE_TYPE: z.enum(CACHE_TYPES, { error: 'must be f32, f16 or q8_0' }).optional(),
  /** Of llama.cpp. Default: as many as fit. */
  GPU_LAYERS: z
    .string()
    .regex(/^\d{1,4}$/, 'must be a whole number')
    .transform(Number)
    .optional(),
  /** Of llama.cpp: shares of several GPUs, as 3,1. Default: by their free memory. */
  TENSOR_SPLIT: z
    .string()
    .regex(
      /^\d{1,6}(?:\.\d{1,6})?(?:,\d{1,6}(?:\.\d{1,6})?){0,15}$/,
      'takes numbers separated by commas, as 3,1',
    )
    .transform((value) => value.split(',').map(Number))
    .optional(),
  /** Default: depends on the engine. */
  CONCURRENCY: positive.optional(),
  MAX_QUEUE: wholeNumber(DEFAULTS.maxQueue),
  /** Default: depends on the task; longer for media. */
  MAX_BODY_BYTES: positive.optional(),
  MAX_BODY_VALUES: wholeNumber(DEFAULTS.maxBodyValues),
  /** Default: a share of the memory. */
  MAX_PENDING_BYTES: positive.optional(),
  MAX_MEDIA_BYTES: wholeNumber(DEFAULTS.maxMediaBytes),
  MAX_PIXELS: wholeNumber(DEFAULTS.maxPixels),
  MAX_MEDIA_SECONDS: wholeNumber(DEFAULTS.maxMediaSeconds),
  REQUEST_TIMEOUT: seconds(DEFAULTS.requestTimeoutMs),
  CANCEL_GRACE: seconds(DEFAULTS.cancelGraceMs),
  SHUTDOWN_GRACE: seconds(DEFAULTS.shutdownGraceMs),
  MEDIA_TIMEOUT: seconds(DEFAULTS.mediaTimeoutMs),
  LOG_FORMAT: z.enum(['json', 'text']).default('json'),
  LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info'),
  INLINE: flag,
  /** Set by `builder serve`: end when stdin closes, that is, when the parent ends. */
  UNTIL_STDIN_ENDS: flag,
  /** Set by `builder serve`: MODEL_DIR is a folder of others, whose manifest is kept in this one. */
  MODEL_MANIFESTS: z.string().optional(),
});
