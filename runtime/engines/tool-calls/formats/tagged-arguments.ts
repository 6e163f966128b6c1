import { attempt, nameUntil, type ParseContext, shortUntil } from '../parse/context.js';
import { Malformed, type Parsing, Unfinished } from '../parse/input.js';
import { castValue, schemaTypes } from './cast.js';
import type { TaggedArgumentsFormat } from './format.js';
import { objectOf } from './references.js';

/** A call after a start marker: its name, then each argument in tags. */
export function* taggedArgumentsCall(
  context: ParseContext,
  start: string,
  format: TaggedArgumentsFormat,
): Parsing {
  const { input, answer, alphabet } = context;
  const marker = (text: string) => alphabet.marker(text);
  const argumentStart = marker(format.argumentStart);
  const ends = format.ends.map(marker);
  yield* attempt(context, start, function* () {
    yield* input.skipBlanks();
    const found = yield* nameUntil(context, [marker(format.nameEnd), argumentStart, ...ends]);
    answer.open(found.name);
    answer.arguments('{');
    const keys = new Set<string>();
    let next: string | undefined = found.marker;
    if (next === marker(format.nameEnd) && next !== argumentStart)
      next = yield* tag(context, argumentStart, ends);
    while (next === argumentStart) {
      yield* argument(context, format, { name: found.name, keys });
      next = yield* tag(context, argumentStart, ends);
    }
    answer.arguments('}');
    answer.close();
  });
}

/** The next tag: another argument, or the end of the call. */
function* tag({ input }: ParseContext, argumentStart: string, ends: readonly string[]): Parsing<string> {
  yield* input.skipBlanks();
  const found = yield* input.acceptOneOf([argumentStart, ...ends]);
  if (found !== undefined) return found;
  throw input.endsWithin([argumentStart, ...ends]) ? new Unfinished() : new Malformed();
}

function* argument(
  context: ParseContext,
  format: TaggedArgumentsFormat,
  { name, keys }: { name: string; keys: Set<string> },
): Parsing {
  const { input, answer, alphabet, tools } = context;
  const { text } = yield* shortUntil(input, [alphabet.marker(format.keyEnd)]);
  const key = text.trim();
  if (keys.has(key)) throw new Malformed();
  answer.arguments(`${keys.size > 0 ? ', ' : ''}${JSON.stringify(key)}: `);
  keys.add(key);
  const { parameters = {} } = tools.get(name) ?? {};
  const properties = objectOf(parameters['properties']);
  const types = schemaTypes(Object.hasOwn(properties, key) ? properties[key] : undefined, parameters);
  const valueEnd = alphabet.marker(format.valueEnd);
  if (types.every((type) => type === 'string')) {
    yield* textValue(context, valueEnd);
    return;
  }
  let raw = '';
  const end = yield* input.until([valueEnd], (more) => (raw += alphabet.plain(more, 'write')));
  if (end === undefined) throw new Unfinished();
  answer.arguments(castValue(withoutEdges(raw), types));
}

/** A text as it stands between the tags, but for one line break at each edge, which belongs to them. */
function* textValue({ input, answer, alphabet }: ParseContext, valueEnd: string): Parsing {
  answer.arguments('"');
  let first = true;
  let held = '';
  const end = yield* input.until([valueEnd], (more) => {
    const text = held + alphabet.plain(more, 'write');
    const shown = first && text.startsWith('\n') ? text.slice(1) : text;
    first = false;
    held = shown.endsWith('\n') ? '\n' : '';
    answer.arguments(JSON.stringify(shown.slice(0, shown.length - held.length)).slice(1, -1));
  });
  if (end === undefined) throw new Unfinished();
  answer.arguments('"');
}

const withoutEdges = (text: string): string => text.replace(/^\n/, '').replace(/\n$/, '');
