/**
 * Builds an image of the gateway for clusters: one bundled file on the base image, no RUN line.
 *   node scripts/gateway-image.mjs [IMAGE] [BASE_IMAGE]
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';

const [image = 'slipway/gateway:latest', base = 'node:24-bookworm-slim'] = process.argv.slice(2);
const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'));
const context = mkdtempSync(join(tmpdir(), 'slipway-gateway-'));
try {
  await build({
    entryPoints: ['gateway/main.ts'],
    outfile: join(context, 'app/gateway.mjs'),
    bundle: true,
    minifySyntax: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // CommonJS packages in the bundle call require for node's own modules.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    // Clusters start containers themselves.
    external: ['*/builder/docker/dockerode.js'],
    legalComments: 'external',
    logLevel: 'warning',
    logOverride: { 'import-is-undefined': 'silent' },
  });
  mkdirSync(join(context, 'app/gateway'));
  for (const folder of ['dist/image/playground', 'dist/gateway/console/page'])
    cpSync(folder, join(context, 'app', folder), { recursive: true });
  copyFileSync('gateway/prices.json', join(context, 'app/gateway/prices.json'));
  writeFileSync(
    join(context, 'app/package.json'),
    JSON.stringify({ name, version, license, type: 'module' }),
  );
  writeFileSync(join(context, 'Dockerfile'), dockerfile());
  // What docker says is for people; the image's name is the result.
  execFileSync('docker', ['build', '--quiet', '--tag', image, context], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  console.log(image);
} finally {
  rmSync(context, { recursive: true, force: true });
}

function dockerfile() {
  return [
    `FROM ${base}`,
    'COPY app/ /app/',
    'ENV NODE_ENV=production',
    'USER 1000:1000',
    'EXPOSE 8080',
    'ENTRYPOINT ["node", "/app/gateway.mjs"]',
    'CMD ["serve", "--host", "0.0.0.0"]',
    '',
  ].join('\n');
}
