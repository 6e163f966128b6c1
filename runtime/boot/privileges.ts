import { accessSync, chownSync, constants, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

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
    process.setgroups!(renderGroups());
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

const RENDER_FOLDER = '/dev/dri';

/** Groups of the kernel's files of GPUs (`render` on the host, whose number differs between hosts), where there are some. */
function renderGroups(): number[] {
  try {
    const files = readdirSync(RENDER_FOLDER).filter((name) => name.startsWith('render'));
    const groups = files.map((name) => statSync(join(RENDER_FOLDER, name)).gid);
    return [...new Set(groups)].filter((group) => group !== 0);
  } catch {
    // There are no GPUs.
    return [];
  }
}
