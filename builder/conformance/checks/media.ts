import { differenceOf } from '../../verify/answer.js';
import type { Check } from '../check.js';
import { bytesOf } from '../dialects/media.js';
import { hostMedia, type MediaHost } from '../media-host.js';
import { demand, envelopeOf, outputOf, post, requireError, type ServerUnderTest, shown } from '../server.js';
import type { Answer } from '../transport.js';

/**
 * Media by their addresses, from a server of the tester's own on this machine. A server may refuse to fetch from its own machine, as it
 * does unless ALLOW_PRIVATE_URLS allows it; then it must not have asked.
 */
export const MEDIA_CHECKS: readonly Check[] = [
  check('by address', async (server, media) => {
    const host = await hostMedia(media);
    try {
      const answer = await post(server, addressed(server.golden, host.addressOf));
      if (isGuarded(answer)) return guarded(answer, host);
      const difference = differenceOf(outputOf(answer), outputOf(await post(server, server.golden)));
      demand(difference === undefined, `not the answer to the medium as Base64: ${difference}`);
      demand(host.asked.length > 0, 'the address was not asked');
      return 'the same answer as for the medium as Base64';
    } finally {
      await host.close();
    }
  }),
  check('of an address with nothing', async (server) => {
    const host = await hostMedia([]);
    try {
      const answer = await post(server, addressed(server.golden, host.addressOf));
      if (isGuarded(answer)) return guarded(answer, host);
      return requireError(answer, [400, 422], 'url');
    } finally {
      await host.close();
    }
  }),
  check('of addresses that are none', async (server) => {
    for (const address of ['file:///etc/hostname', 'ftp://127.0.0.1/a.png', 'http://', 'a.png'])
      requireError(
        await post(
          server,
          addressed(server.golden, () => address),
        ),
        [400, 415, 422],
      );
    return 'other schemes and paths of the server are refused';
  }),
];

function check(
  name: string,
  run: (server: ServerUnderTest, media: readonly Buffer[]) => Promise<string>,
): Check {
  return {
    ...{ group: 'media', name },
    async run(server) {
      const media = mediaOf(server.golden);
      return media.length === 0 ? `${server.described.task} takes no medium` : run(server, media);
    },
  };
}

/** It may not fetch from there, or its network is another one. */
const isGuarded = ({ status, bytes }: Answer): boolean =>
  status >= 400 && status < 500 && /ALLOW_PRIVATE_URLS|can't be fetched/.test(bytes.toString('utf8'));

function guarded(answer: Answer, { asked }: MediaHost): string {
  demand(asked.length === 0, `it refuses the address, and has asked it all the same: ${shown(answer)}`);
  return `this machine's address is refused, and was not asked: ${envelopeOf(answer).error}`;
}

/** The media of a body, in their order. */
function mediaOf(value: unknown): Buffer[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'base64' && typeof inner === 'string' ? [bytesOf(inner)] : mediaOf(inner),
  );
}

/** The body with addresses in place of its media. */
function addressed(body: Record<string, unknown>, addressOf: (index: number) => string): unknown {
  let index = 0;
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) =>
        name === 'base64' && typeof inner === 'string'
          ? ['url', addressOf(index++)]
          : [name, replaced(inner)],
      ),
    );
  };
  return replaced(body);
}
