/** Runs when all suites have ended. */
export default function teardown() {
  globalThis.removeTemporaryFolder();
}
