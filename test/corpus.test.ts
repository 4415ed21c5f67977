/**
 * The corpus has a pair of manifests for every field of every kind. Each pair is applied there and back with real requests,
 * and after each apply the next plan must be empty. Pairs whose name begins with "same" mean the same on both sides.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import {
  corpusCases,
  corpusDocuments,
  corpusEnv,
  corpusSeed,
  corpusStack,
  needsSelfHosted,
} from './support/corpus.ts';
import { type WorkspacesDialect, workspacesDialects } from './support/rig/dialect-under-test.ts';
import { startService } from './support/rig/embedded-service.ts';
import { stackIn } from './support/rig/stack-folder.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';

interface CorpusStack {
  /** replaces the manifests of the stack */
  declare(...documents: readonly object[]): Promise<void>;
  /** runs one command, and expects its exit code and that all writes could be verified */
  expectCode(args: readonly string[], code: number): Promise<void>;
}

/** The embedded service of a case: its dialect, and an edition that supports the case. */
interface ServiceOptions {
  readonly dialect: WorkspacesDialect;
  readonly edition?: string;
}

/** A stack in a temporary directory, with its own embedded service. */
async function openStack({ dialect, ...edition }: ServiceOptions): Promise<CorpusStack> {
  const server = await startService({ seed: await corpusSeed(), dialects: [dialect], ...edition });
  onTestFinished(() => server.close());
  const file = corpusStack(server.url, { dialect });
  const stack = stackIn({ directory: temporaryFolder(), stack: file, env: corpusEnv });
  return {
    declare: stack.declare,
    expectCode: async (args, code) => {
      const { out } = await stack.run(args, code);
      // The self-hosted edition has no assessments, so writes of them cannot be verified.
      const unverified = edition.edition === undefined ? '' : 'assessmentsEnabled: sent, cannot be verified';
      expect(out.replaceAll(unverified, '')).not.toMatch(/with another value than sent|cannot be verified/);
    },
  };
}

/** `corpus-dialects.test.ts` has the other dialects of the other API. */
const places = [...kinds].flatMap(([kind, { service }]) =>
  (service === 'workspaces' ? workspacesDialects : (['neutral'] as const)).map(
    (dialect) => [kind, dialect] as const,
  ),
);

describe.each(places)('%s in the dialect %s: after an apply the next plan is empty', (kind, dialect) => {
  it.each(corpusCases(kind, dialect))('%s, there and back again', async (name) => {
    const isElsewhere = dialect !== 'neutral' && needsSelfHosted({ kind, name });
    const { declare, expectCode } = await openStack({
      dialect,
      ...(isElsewhere ? { edition: 'self-hosted' } : {}),
    });
    const declareSide = (side: 'before' | 'after') => declare(...corpusDocuments({ kind, name, side }));
    await declareSide('before');
    // Apply plans again after its writes, and would end with 6 if that plan had changes.
    await expectCode(['apply', '--yes'], 0);
    await declareSide('after');
    if (name.startsWith('same')) return await expectCode(['plan', '--exit-code'], 0);
    await expectCode(['plan', '--exit-code'], 2);
    await expectCode(['apply', '--yes'], 0);
    await declareSide('before');
    await expectCode(['plan', '--exit-code'], 2);
    await expectCode(['apply', '--yes'], 0);
    await expectCode(['plan', '--exit-code'], 0);
  });
});
