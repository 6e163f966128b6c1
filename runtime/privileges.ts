import { accessSync, chownSync, constants, mkdirSync, statSync } from 'node:fs';

/**
 * Started as root (the default of an image), makes the weights folder writable for the unprivileged user, which is
 * what Docker's root-owned bind mounts need, and then becomes that user for good. Started as anyone else
 * (`--user N`), or without a user to become (outside of an image), does nothing.
 * @param user numeric id (RUN_AS); a base image need not know a name for it
 * @returns what was done or could not be done, for the log
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
