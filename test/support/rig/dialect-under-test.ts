/**
 * The default dialect of the workspaces API in tests: neutral, or the one that TRUEUP_TEST_DIALECT names. `npm run test:dialect`
 * runs the tests whose requests differ in that dialect.
 */

/** The dialects of the workspaces API that the embedded service supports. */
export const workspacesDialects = ['neutral', 'hcp-terraform'] as const;

export type WorkspacesDialect = (typeof workspacesDialects)[number];

/** @throws for an unknown dialect */
function named(name: string): WorkspacesDialect {
  const found = workspacesDialects.find((dialect) => dialect === name);
  if (found === undefined)
    throw new Error(`TRUEUP_TEST_DIALECT: "${name}" is none of ${workspacesDialects.join(', ')}`);
  return found;
}

export const dialectUnderTest = named(process.env['TRUEUP_TEST_DIALECT'] ?? 'neutral');

/** These dialects of a service, and the dialect under test if none of them is for the workspaces API. */
export function withDialectUnderTest(dialects: readonly string[] = []): readonly string[] {
  return dialects.some((name) => workspacesDialects.some((known) => known === name))
    ? dialects
    : [...dialects, dialectUnderTest];
}
