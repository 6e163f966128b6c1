/**
 * Writes the drawing of a terminal of README.md: the commands below are run as they stand there, and what they print
 * becomes text in an SVG.
 * Usage: node scripts/terminal-picture.mjs   (after npm run build)
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

const FILE = 'docs/pictures/terminal.svg';
const PORT = 8080;
const ADDRESS = `http://127.0.0.1:${PORT}`;
const BUILDER = `${process.execPath} ${process.cwd()}/dist/builder/main.js`;
const READY_MS = 60_000;

const ASK = `curl -s localhost:${PORT}/run -H 'content-type: application/json' \\\n  -d '{"text": "The harbour", "params": {"max_new_tokens": 12}}'`;

/** Commands after the server's start, and which lines of their output are shown. */
const COMMANDS = [
  { text: ASK, shown: (lines) => lines },
  { text: `builder test ${ADDRESS} --only routes --quiet`, shown: (lines) => lines },
  {
    text: `builder bench ${ADDRESS} --concurrency 1,4 --duration 3 --quiet`,
    shown: (lines) => lines.filter((line) => line.trim() !== ''),
  },
];

const [WIDTH, LINE, MARGIN, COLUMNS] = [8.43, 19, 18, 112];

function run(text) {
  const { stdout, stderr, status } = spawnSync('bash', ['-c', text.replace(/^builder/, BUILDER)], {
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1', COLUMNS: String(COLUMNS) },
  });
  if (status !== 0) throw new Error(`${text} ended with ${status}: ${stderr}`);
  return stripVTControlCharacters(stdout).trimEnd().split('\n');
}

/** The demo model, as long as the commands take. */
async function withServer(work) {
  const [node, script] = BUILDER.split(' ');
  const server = spawn(node, [script, 'serve', '--demo', '--port', String(PORT)], { stdio: 'ignore' });
  try {
    const until = Date.now() + READY_MS;
    for (;;) {
      const health = await fetch(`${ADDRESS}/health`).catch(() => undefined);
      if (health?.ok) return work();
      if (server.exitCode !== null || Date.now() > until) throw new Error('the demo model is not ready');
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  } finally {
    server.kill();
  }
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** A row of text; a prompt and a good result have a colour. */
function rowOf({ text, isCommand }, index) {
  const y = 52 + index * LINE;
  const kind = isCommand ? ' class="c"' : /^ok\b/.test(text) ? ' class="k"' : '';
  const prompt = isCommand && !text.startsWith(' ') ? '<tspan class="p">$ </tspan>' : '';
  return `<text x="${MARGIN}" y="${y}"${kind}>${prompt}${escaped(text.slice(0, COLUMNS))}</text>`;
}

function image(rows) {
  const width = Math.ceil(MARGIN * 2 + WIDTH * Math.max(...rows.map(({ text }) => text.length + 2)));
  const height = 52 + rows.length * LINE;
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (colour, i) => `<circle cx="${20 + i * 18}" cy="18" r="5.5" fill="${colour}"/>`,
  );
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img" aria-label="A terminal: a model is asked, tested and measured">`,
    '<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#c9d1d9;white-space:pre}.c{fill:#fff;font-weight:600}.p{fill:#7ee787}.k{fill:#a5d6b0}</style>',
    `<rect width="${width}" height="${height}" rx="9" fill="#0d1117"/>`,
    ...dots,
    ...rows.map(rowOf),
    '</svg>',
    '',
  ].join('\n');
}

const rows = await withServer(() => [
  { text: `builder serve --demo --port ${PORT} &`, isCommand: true },
  ...COMMANDS.flatMap(({ text, shown }) => [
    { text: '', isCommand: false },
    ...text.split('\n').map((line) => ({ text: line, isCommand: true })),
    ...shown(run(text)).map((line) => ({ text: line, isCommand: false })),
  ]),
]);
mkdirSync('docs/pictures', { recursive: true });
writeFileSync(FILE, image(rows));
console.log(FILE);
