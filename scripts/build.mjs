/**
 * Compiles everything with tsc, for scripts, and bundles with esbuild what users run. `builder` and `gateway` are one file
 * each, since opening a thousand files took half of the time of a short command; their packages stay outside. The server of
 * the images is what `builder serve` starts and what a runtime image holds, so both run the same bytes; native packages stay
 * outside of it.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
rmSync('dist', { recursive: true, force: true });

execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
});

/** For all bundles. */
const common = { bundle: true, platform: 'node', format: 'esm', target: 'node20', logLevel: 'warning' };

for (const tool of ['builder', 'gateway']) {
  await build({
    ...common,
    entryPoints: [`${tool}/main.ts`],
    outfile: `dist/${tool}/main.js`,
    packages: 'external',
    allowOverwrite: true,
  });
  chmodSync(`dist/${tool}/main.js`, 0o755);
}
// They open networks or write weights, each in a process of its own.
for (const [entry, name] of [
  ['runtime/engines/compare/probe-main', 'check-export'],
  ['runtime/engines/compare/main', 'compare-networks'],
  ['builder/pack/make-main', 'make-weights'],
]) {
  await build({
    ...common,
    entryPoints: [`${entry}.ts`],
    outfile: `dist/builder/${name}.js`,
    packages: 'external',
  });
}
// The module that reads it looks beside itself.
for (const folder of ['builder', 'builder/plan/config'])
  copyFileSync('builder/plan/config/library-defaults.json', `dist/${folder}/library-defaults.json`);

const { metafile } = await build({
  ...common,
  entryPoints: {
    main: 'runtime/boot/main.ts',
    child: 'runtime/worker/entry.ts',
    'session-thread': 'runtime/engines/sessions/thread.ts',
    'hash-thread': 'runtime/sealed/thread.ts',
    'tokenizer-thread': 'runtime/engines/chat-templates/tokenizer-thread.ts',
    'grammar-thread': 'runtime/engines/generation/grammar/llguidance/thread.ts',
  },
  outdir: 'dist/image',
  outExtension: { '.js': '.mjs' },
  splitting: true,
  minifySyntax: true,
  external: ['onnxruntime-node', 'sharp', 'koffi'],
  define: { SLIPWAY_VERSION: JSON.stringify(version) },
  // CommonJS packages in the bundle call require for node's own modules.
  banner: {
    js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
  },
  legalComments: 'external',
  metafile: true,
});

await buildPlayground();
await buildConsole();

// The bundle reads it beside itself.
copyFileSync('runtime/engines/generation/grammar/llguidance/llguidance.wasm', 'dist/image/llguidance.wasm');

/** The page for people at the address of a model. */
async function buildPlayground() {
  const source = 'runtime/playground';
  await buildPages('dist/image/playground', source, {
    entryPoints: ['page.tsx', 'style.css', 'reference/docs.tsx', 'reference/docs.css'],
    html: ['page.html', 'reference/docs.html'],
  });
}

/** The page for the gateway's operators. */
async function buildConsole() {
  await buildPages('dist/gateway/console/page', 'gateway/console/page', {
    entryPoints: ['page.tsx', 'style.css'],
    html: ['page.html'],
  });
}

/** Files of pages as they are sent: compressed. */
async function buildPages(folder, source, { entryPoints, html }) {
  await build({
    entryPoints: entryPoints.map((name) => `${source}/${name}`),
    outdir: folder,
    entryNames: '[name]',
    ...{ bundle: true, minify: true, platform: 'browser', format: 'esm', target: ['es2022'] },
    tsconfig: `${source}/tsconfig.json`,
    logLevel: 'warning',
  });
  for (const name of html) copyFileSync(`${source}/${name}`, `${folder}/${basename(name)}`);
  for (const name of readdirSync(folder)) {
    writeFileSync(`${folder}/${name}.gz`, gzipSync(readFileSync(`${folder}/${name}`), { level: 9 }));
    rmSync(`${folder}/${name}`);
  }
}

/** What the bundle is made of, for the bill of materials: name, version and licence of each npm package in it. */
const PACKAGE = /^node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+\//;
const folders = new Set(Object.keys(metafile.inputs).flatMap((file) => PACKAGE.exec(file) ?? []));
const packages = [...folders].map((folder) => {
  const { name, version: own, license } = JSON.parse(readFileSync(`${folder}package.json`, 'utf8'));
  return { name, version: own, license };
});
packages.sort((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1));
writeFileSync('dist/image/packages.json', `${JSON.stringify(packages, null, 1)}\n`);
