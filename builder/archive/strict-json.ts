/** Objects with free keys, which may differ in case only. */
const MAPS = new Set(['Labels', 'annotations', 'Volumes', 'ExposedPorts']);

interface Open {
  /** Keys so far, folded as in `foldCase`; undefined for a list. */
  keys: Set<string> | undefined;
  fold: (key: string) => string;
}

/**
 * Parses JSON that every program reads alike. Go, in which engines are written, ignores the case of keys and merges
 * duplicates, so it could see another image in a document with such keys.
 * @throws SyntaxError for invalid JSON, or for such keys
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const open: Open[] = [];
  let name = '';
  let isKey = false;
  for (const token of tokens(text)) {
    if (token === '{') open.push({ keys: new Set(), fold: MAPS.has(name) ? same : foldCase });
    else if (token === '[') open.push({ keys: undefined, fold: same });
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && isKey) take(open.at(-1)!, (name = JSON.parse(token) as string));
    if (token === '{' || token === ',') isKey = open.at(-1)?.keys !== undefined;
    else isKey = false;
  }
  return value;
}

/** Strings and structural characters of a JSON text; other literals are left out. */
function* tokens(text: string): Generator<string> {
  const start = /["{}[\],:]/g;
  for (let found = start.exec(text); found; found = start.exec(text)) {
    if (found[0] !== '"') yield found[0];
    else {
      start.lastIndex = endOfString(text, found.index);
      yield text.slice(found.index, start.lastIndex);
    }
  }
}

function endOfString(text: string, from: number): number {
  for (let at = from + 1; ; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
}

function take({ keys, fold }: Open, name: string): void {
  const key = fold(name);
  if (keys!.has(key)) throw new SyntaxError(`the key ${JSON.stringify(name)} stands there twice`);
  keys!.add(key);
}

const same = (key: string) => key;

/** Folds case as Go does, by Unicode: the Kelvin sign is a k, the long s an s. */
const foldCase = (key: string) => key.normalize('NFKC').toLowerCase();
