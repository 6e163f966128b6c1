import { printable } from '../../../runtime/core/printable.js';
import { transformersMajor } from '../../../runtime/hub-config/version.js';
import { type Json, testedVersions } from './library-defaults.js';
import { type UnreadField, unreadFields } from './unread-fields.js';

/** A configuration says what nothing here reads: whatever would be served might answer otherwise than Python does. */
export class UnreadFieldsError extends Error {
  readonly remedy: string;

  constructor(file: string, fields: readonly UnreadField[]) {
    super(`${file}: ${fields.slice(0, MOST_NAMED).map(sentence).join('; ')}${more(fields)}`);
    const options = fields.map(({ path }) => `--ignore-config ${path}`).join(' ');
    this.remedy = `if it changes no answer of yours: ${options}`;
  }
}

const MOST_NAMED = 5;
const LONGEST = 60;

const more = ({ length }: readonly UnreadField[]): string =>
  length > MOST_NAMED ? `; and ${length - MOST_NAMED} more` : '';

const short = (value: unknown): string => printable(JSON.stringify(value) ?? 'null').slice(0, LONGEST);

function sentence({ path, value, usual }: UnreadField): string {
  const name = printable(path);
  if (usual === undefined) return `${name} is another name of a field that the file leaves out`;
  return `${name} is ${short(value)}, which is not supported (${short(usual)} is what transformers takes by default)`;
}

/**
 * Holds a configuration to the closed-world rule.
 * @param ignored paths of fields that the operator wants ignored
 * @returns the paths among them that would have been in the way
 * @throws UnreadFieldsError
 */
export function requireRead(file: string, config: Json, ignored: readonly string[] = []): string[] {
  const { model_type: type } = config;
  const unread = typeof type === 'string' ? unreadFields(config, type) : [];
  const refused = unread.filter(({ path }) => !ignored.includes(path));
  if (refused.length > 0) throw new UnreadFieldsError(file, refused);
  return unread.map(({ path }) => path);
}

/** A note where a newer transformers wrote the file than answers were compared with; undefined else. */
export function versionNote(config: Json): string | undefined {
  const version = config['transformers_version'];
  if (typeof version !== 'string' || transformersMajor(config) === undefined) return undefined;
  const [, newest] = testedVersions();
  const isNewer = version.localeCompare(newest, 'en', { numeric: true }) > 0;
  if (!isNewer) return undefined;
  return `note: transformers ${printable(version)} wrote config.json; answers were compared with ${newest} and older`;
}
