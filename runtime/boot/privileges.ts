import { accessSync, chownSync, constants, mkdirSync, statSync } from 'node:fs';

/**
 * If started as root (the default of images), gives the weights folder to the unprivileged user, which root-owned bind
 * mounts need, and permanently switches to that user. Does nothing for other users (`--user N`) or outside of an image.
 * @param user numeric id (RUN_AS), which may have no name in the image
 * @returns a line for the log about what was done or failed
 */
export function dropPrivileges(user: number | undefined, modelDir: string): string | undefined {
  if (user === undefined || process.getuid?.() !== 0) return undefined;
  const handover = giveFolder(modelDir, user);
  try {
    process.setgroups!([]);
    process.setgid!(user);
    process.setuid!(user);
  } catch (error) {
    return `stays user 0, without the capability to change it (${(error as NodeJS.ErrnoException).code})`;
  }
  return `runs as user ${user}${handover}`;
}

function giveFolder(dir: string, user: number): string {
  try {
    mkdirSync(dir, { recursive: true });
    if (!writableByAll(dir) && statSync(dir).uid !== user) chownSync(dir, user, user);
    return '';
  } catch (error) {
    return `; ${dir} can't be handed over (${(error as NodeJS.ErrnoException).code}), a download would fail`;
  }
}

function writableByAll(dir: string): boolean {
  accessSync(dir, constants.R_OK);
  return (statSync(dir).mode & 0o002) !== 0;
}
