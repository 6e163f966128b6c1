/** How far a size may be beyond the committed one before somebody has to look at it. */
const TOLERANCE = 1.05;

export const mb = (bytes) => (bytes / 1e6).toFixed(1);

/**
 * Sizes that have grown beyond those of docs/sizes.md, a line each.
 * @param sizes of images: profile, platform, and the bytes above their base
 */
export function grownSizes(sizes, text) {
  const rows = text.matchAll(/^\| (\w+) +\| (linux\/\w+) +\| +([\d.]+) +\|/gm);
  const known = new Map(
    [...rows].map(([, profile, platform, above]) => [`${profile} ${platform}`, Number(above) * 1e6]),
  );
  return sizes.flatMap(({ profile, platform, aboveBase: above }) => {
    const before = known.get(`${profile} ${platform}`);
    if (before !== undefined && above <= before * TOLERANCE) return [];
    const was = before === undefined ? 'it is not there' : `it says ${mb(before)} MB`;
    return [`${profile} for ${platform} is ${mb(above)} MB above its base; in docs/sizes.md ${was}`];
  });
}
