/**
 * What the workspaces API is spoken like where a test says nothing: neutral, or the dialect that TRUEUP_TEST_DIALECT names.
 * `npm run test:dialect` runs those tests in it whose requests differ.
 */

/** The dialects of the workspaces API that are served. */
export const workspacesDialects = ['neutral', 'hcp-terraform'] as const;

export type WorkspacesDialect = (typeof workspacesDialects)[number];

/** @throws for a dialect that nobody serves, which would else be tried in vain */
function named(name: string): WorkspacesDialect {
  const found = workspacesDialects.find((dialect) => dialect === name);
  if (found === undefined)
    throw new Error(`TRUEUP_TEST_DIALECT: "${name}" is none of ${workspacesDialects.join(', ')}`);
  return found;
}

export const dialectUnderTest = named(process.env['TRUEUP_TEST_DIALECT'] ?? 'neutral');

/** For a service: these, and the dialect under test where they leave the workspaces API open. */
export function withDialectUnderTest(dialects: readonly string[] = []): readonly string[] {
  return dialects.some((name) => workspacesDialects.some((known) => known === name))
    ? dialects
    : [...dialects, dialectUnderTest];
}
