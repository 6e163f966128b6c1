/** Writes docs/package-sizes.md again, and fails where something is beyond its limit. Usage: node scripts/sizes/write.mjs */
import { writeFileSync } from 'node:fs';
import { format } from 'prettier';
import { beyond, kb, measure } from './measure.mjs';

const rows = measure();
const table = [
  '| what | kB | limit, kB |',
  '| --- | ---: | ---: |',
  ...rows.map(({ what, bytes, limit }) => `| ${what} | ${kb(bytes)} | ${kb(limit)} |`),
];
const text = `# Sizes of the package and the pages

What \`make sizes\` measured (1 kB is 1000 bytes). \`test/processes/sizes.test.ts\` fails where one is beyond its limit, which stands in
\`scripts/sizes/measure.mjs\`, and where the table is more than a tenth away. Images: docs/sizes.md.

${table.join('\n')}
`;
writeFileSync('docs/package-sizes.md', await format(text, { parser: 'markdown' }));
const grown = beyond(rows);
for (const line of grown) console.error(line);
if (grown.length > 0) process.exitCode = 1;
