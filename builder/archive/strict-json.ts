/** Objects whose keys are names that somebody gave: there case tells them apart. */
const MAPS = new Set(['Labels', 'annotations', 'Volumes', 'ExposedPorts']);

interface Open {
  /** Keys so far, as other programs compare them; undefined for a list. */
  keys: Set<string> | undefined;
  fold: (key: string) => string;
}

/**
 * Reads JSON that means the same to every program. Engines are written in Go, which takes keys for equal whatever their
 * case and merges doubled ones: a document with such keys shows one image here and starts another one there.
 * @throws SyntaxError for text that is no JSON, or has such keys
 */
export function parseStrictJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  const open: Open[] = [];
  let name = '';
  let isKey = false;
  for (const token of tokens(text)) {
    if (token === '{') open.push({ keys: new Set(), fold: MAPS.has(name) ? same : folded });
    else if (token === '[') open.push({ keys: undefined, fold: same });
    else if (token === '}' || token === ']') open.pop();
    else if (token.startsWith('"') && isKey) take(open.at(-1)!, (name = JSON.parse(token) as string));
    if (token === '{' || token === ',') isKey = open.at(-1)?.keys !== undefined;
    else isKey = false;
  }
  return value;
}

/** Strings, and what structures a text that is JSON; numbers, `true` and the like are left out. */
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

/** Go folds case by Unicode's rules: the Kelvin sign is a k, and the long s an s. */
const folded = (key: string) => key.normalize('NFKC').toLowerCase();
