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
  /** runs one command, and expects its exit code and that all writes could be verified. @returns its output */
  expectCode(args: readonly string[], code: number): Promise<string>;
  /** applies a change: an apply without changes fails the test */
  applyChange(): Promise<void>;
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
  const expectCode = async (args: readonly string[], code: number) => {
    const { out } = await stack.run(args, code);
    // The self-hosted edition has no assessments, so writes of them cannot be verified.
    const unverified = edition.edition === undefined ? '' : 'assessmentsEnabled: sent, cannot be verified';
    expect(out.replaceAll(unverified, '')).not.toMatch(/with another value than sent|cannot be verified/);
    return out;
  };
  return {
    declare: stack.declare,
    expectCode,
    // Apply plans again after its writes, and would end with 6 if that plan had changes.
    applyChange: async () => expect(await expectCode(['apply', '--yes'], 0)).not.toContain('No changes'),
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
    const { declare, expectCode, applyChange } = await openStack({
      dialect,
      ...(isElsewhere ? { edition: 'self-hosted' } : {}),
    });
    const declareSide = (side: 'before' | 'after') => declare(...corpusDocuments({ kind, name, side }));
    await declareSide('before');
    await applyChange();
    await declareSide('after');
    if (name.startsWith('same')) {
      await expectCode(['plan', '--exit-code'], 0);
      return;
    }
    await applyChange();
    await declareSide('before');
    await applyChange();
    await expectCode(['plan', '--exit-code'], 0);
  });
});
