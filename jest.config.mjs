/** Test suites by folder: `npm run jest -- --selectProjects unit contract`. */
const project = (name) => ({
  displayName: name,
  rootDir: import.meta.dirname,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  // Benches keep copies of packages there.
  modulePathIgnorePatterns: ['<rootDir>/.cache/'],
  testEnvironment: './test/jest-env.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'es6' } },
    ],
  },
});

export default {
  // What hangs fails; what waits for a busy machine does not.
  testTimeout: 30_000,
  projects: [
    ...[
      'unit',
      'contract',
      'processes',
      'parity',
      'floor',
      'browser',
      'faults',
      'e2e',
      'memory',
      'real-weights',
      'manifests',
    ],
  ].map(project),
  globalSetup: './test/temporary-folder.mjs',
  globalTeardown: './test/remove-temporary-folder.mjs',
};
