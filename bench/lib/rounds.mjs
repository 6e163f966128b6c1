/** Interleaved rounds: each cell is run by all contestants before the next, in reversed order every other round. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { MB, table } from '../lib.mjs';
import { startLoad } from './load.mjs';
import { median, round } from './numbers.mjs';
import { firstAnswer, peakPss } from './processes.mjs';

const WARM_SECONDS = 1;

/**
 * Runs all cells. A contestant is a server ({ start, request }) or a limit without HTTP ({ start, measure }).
 * `workload(cell)` gives { requestsOf(contestant), ... }; the rest goes to the load generator.
 * @returns measurements [{ cell, round, contestant, ... }]
 */
export async function runRounds({ contestants, cells, rounds, seconds, workload }) {
  const running = new Map();
  const load = startLoad();
  const measured = [];
  try {
    for (const each of contestants) {
      running.set(each, await each.start());
      if (!each.measure) await firstAnswer(running.get(each), workload(cells[0]).requestsOf(each)[0]);
    }
    for (let at = 0; at < rounds; at++) {
      for (const cell of cells) {
        const order = at % 2 === 0 ? contestants : contestants.toReversed();
        for (const each of order) {
          if (each.cells && !each.cells(cell)) continue;
          const result = await one({ load, each, server: running.get(each), cell, seconds, workload });
          measured.push({ cell: cell.name, round: at, contestant: each.name, ...result });
          progress(measured.at(-1), rounds);
        }
      }
    }
  } finally {
    load.stop();
    for (const server of running.values()) await server.stop();
  }
  return measured;
}

async function one({ load, each, server, cell, seconds, workload }) {
  if (each.measure) return each.measure(server, cell, seconds);
  const { requestsOf, ...job } = workload(cell);
  const { url, pid } = server;
  const requests = requestsOf(each);
  const { connections } = cell;
  return load.run({ ...job, url, pid, requests, connections, seconds, warmSeconds: WARM_SECONDS });
}

function progress({ cell, round: at, contestant, rate, tokens, failed, firstError, othersCores }, rounds) {
  const trouble = failed ? `, ${failed} failed: ${firstError}` : '';
  const speed = tokens ? `${round(tokens)} tokens/s` : `${round(rate)}/s`;
  const others = othersCores === undefined ? '' : `, others ${round(othersCores)} cores`;
  console.log(`round ${at + 1}/${rounds} ${cell} ${contestant}: ${speed}${others}${trouble}`);
}

/**
 * One row per cell and contestant: medians over the rounds. "x" is the reference's `value` over this one's, formed
 * inside each round.
 */
export function rowsOf(measured, { columns, value = 'rate', reference = 'slipway' }) {
  const keys = [...new Set(measured.map(({ cell, contestant }) => `${cell}\t${contestant}`))];
  return keys.map((key) => {
    const [cell, contestant] = key.split('\t');
    const mine = measured.filter((each) => each.cell === cell && each.contestant === contestant);
    const row = { name: `${cell} ${contestant}` };
    for (const [title, field, digits = 1] of columns) {
      const value = median(mine.map((each) => each[field] ?? NaN));
      // A limit without a server has no latencies of requests.
      row[title] = Number.isNaN(value) ? '' : round(value, digits);
    }
    const ratios = mine.map((each) => {
      const theirs = measured.find(
        (other) => other.cell === cell && other.round === each.round && other.contestant === reference,
      );
      return (theirs?.[value] ?? NaN) / each[value];
    });
    row[`${reference} x`] = round(median(ratios), 2);
    row.failed = mine.reduce((sum, each) => sum + (each.failed ?? 0), 0);
    return row;
  });
}

/** Each contestant alone: from start to the first answer, and memory while starting, under load and after it. */
export async function runAlone({ contestants, request, underLoad }) {
  const rows = [];
  for (const each of contestants.filter(({ measure }) => !measure)) {
    const started = performance.now();
    const server = await each.start();
    let firstMs;
    const starting = await peakPss(server.pid, async () => {
      await firstAnswer(server, request(each));
      firstMs = performance.now() - started;
    });
    const load = startLoad();
    const job = { ...underLoad(each), url: server.url, pid: server.pid, warmSeconds: 0 };
    const loaded = await peakPss(server.pid, () => load.run(job), 200);
    load.stop();
    await server.stop();
    const mb = (bytes) => round(bytes / MB, 0);
    rows.push({
      ...{ name: each.name, 'first answer s': round(firstMs / 1000, 2) },
      ...{ 'peak MB while starting': mb(starting), 'peak MB under load': mb(loaded) },
    });
  }
  return rows;
}

/** Writes bench/results/NAME.json and prints the tables. */
export function report(name, { options, tables, ...rest }) {
  mkdirSync('bench/results', { recursive: true });
  const file = `bench/results/${name}.json`;
  writeFileSync(file, JSON.stringify({ name, node: process.version, options, tables, ...rest }, null, 1));
  for (const [title, rows] of Object.entries(tables)) {
    console.log(`\n${title}`);
    table(rows);
  }
  console.log(`wrote ${file}`);
}
