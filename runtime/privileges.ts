import { accessSync, chownSync, constants, mkdirSync, statSync } from 'node:fs';

/** The unprivileged user of the image; a number, because a base image need not know a name for it. */
const USER = 1000;

/**
 * Started as root (the default of an image), makes the weights folder writable for the unprivileged user, which is
 * what Docker's root-owned bind mounts need, and then becomes that user for good. Started as anyone else
 * (`--user N`), does nothing.
 * @returns what was done or could not be done, for the log
 */
export function dropPrivileges(modelDir: string): string | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const handover = giveFolder(modelDir);
  try {
    process.setgroups!([]);
    process.setgid!(USER);
    process.setuid!(USER);
  } catch (error) {
    return `stays user 0, without the capability to change it (${(error as NodeJS.ErrnoException).code})`;
  }
  return `runs as user ${USER}${handover}`;
}

function giveFolder(dir: string): string {
  try {
    mkdirSync(dir, { recursive: true });
    if (!writableByAll(dir) && statSync(dir).uid !== USER) chownSync(dir, USER, USER);
    return '';
  } catch (error) {
    return `; ${dir} can't be handed over (${(error as NodeJS.ErrnoException).code}), a download would fail`;
  }
}

function writableByAll(dir: string): boolean {
  accessSync(dir, constants.R_OK);
  return (statSync(dir).mode & 0o002) !== 0;
}
