/** Options that the benches of a family share. */
import { parseArgs } from 'node:util';

const HELP = `Options
  --only a,b      contestants (default: all that are there)
  --cells a,b     cells, as KIND@CONNECTIONS (default: all)
  --rounds N      rounds; every other one runs in reversed order
  --seconds N     length of a window
  --no-memory     skip start times and memory
  --against DIR   another checkout with a build, measured beside this one (images only)
  --help`;

const names = (value) => value?.split(',').filter(Boolean);

/** `defaults`: { cells, rounds, seconds, ... }; further string options of one bench go into `more`. */
export function readOptions(defaults, more = {}) {
  const { values } = parseArgs({
    options: {
      ...{ only: { type: 'string' }, cells: { type: 'string' }, rounds: { type: 'string' } },
      ...{ seconds: { type: 'string' }, 'no-memory': { type: 'boolean' }, help: { type: 'boolean' } },
      ...more,
    },
  });
  if (values.help) {
    console.log(HELP);
    process.exit();
  }
  return {
    ...values,
    only: names(values.only),
    cells: (names(values.cells) ?? defaults.cells).map(parseCell),
    rounds: Number(values.rounds ?? defaults.rounds),
    seconds: Number(values.seconds ?? defaults.seconds),
    memory: !values['no-memory'],
  };
}

function parseCell(name) {
  const [kind, connections] = name.split('@');
  if (!(Number(connections) > 0)) throw new Error(`A cell is KIND@CONNECTIONS, not ${name}`);
  return { name, kind, connections: Number(connections) };
}

/** Those that were asked for and are there; says why another one is not. */
export function chooseContestants(all, only) {
  const unknown = only?.filter((name) => !all.some((each) => each.name === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`No contestant ${unknown}; there are ${all.map((each) => each.name)}`);
  return all.filter((each) => {
    if (only && !only.includes(each.name)) return false;
    if (each.missing) console.log(`skipped: ${each.name} (${each.missing})`);
    return !each.missing;
  });
}
