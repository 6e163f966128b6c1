import { BuilderError } from '../exit.js';
import { hostPlatform, type Platform } from './platform.js';

/** Base image by platform; `any` for all others. */
export type BaseImages = Partial<Record<Platform, string>> & { any: string };

/** Flags that name several platforms. */
export interface PlatformChoice {
  platform: readonly Platform[];
  baseImage: BaseImages;
}

/** The same flags for one of them. */
export type ForPlatform<Flags extends PlatformChoice> = Omit<Flags, keyof PlatformChoice> & {
  platform: Platform;
  baseImage: string;
  /** The base for this machine's platform. */
  hostBase: string;
  /** Suffix of the image's tags, if several platforms are built and this is not the default one. */
  variant?: string;
};

/** The flags for each platform. Tags without suffix go to this machine's platform, or to the first if it is not built. */
export function eachPlatform<Flags extends PlatformChoice>(flags: Flags): ForPlatform<Flags>[] {
  const { platform: platforms, baseImage } = flags;
  const plain = platforms.find((platform) => platform === hostPlatform()) ?? platforms[0];
  return platforms.map((platform) => ({
    ...flags,
    platform,
    baseImage: baseImage[platform] ?? baseImage.any,
    hostBase: baseImage[hostPlatform()] ?? baseImage.any,
    ...(platform === plain ? {} : { variant: platform.split('/')[1]! }),
  }));
}

/** For commands that run what they build. @throws BuilderError `usage` for several platforms */
export function onePlatform<Flags extends PlatformChoice>(flags: Flags): ForPlatform<Flags> {
  const [only, ...others] = eachPlatform(flags);
  if (others.length === 0) return only!;
  throw new BuilderError('usage', 'one --platform at a time can be run; "builder build" takes several');
}
