/**
 * The corpus: for every field of every kind a pair of manifests. Each pair is applied there and back over the real wire,
 * and after each apply the next plan must be empty. Pairs whose name begins with "same" mean the same on both sides.
 */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { corpusCases, corpusEnv, corpusFile, corpusSeed, corpusStack } from './support/corpus.ts';
import { startService } from './support/rig/embedded-service.ts';
import { stackIn } from './support/rig/stack-folder.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';

interface CorpusStack {
  /** the manifests of the stack are these from now on */
  use(file: string): Promise<void>;
  /** runs one command, expects its exit code, and that no answer of the service is doubted */
  expectCode(args: readonly string[], code: number): Promise<void>;
}

/** A stack in a temporary directory, with an embedded service of its own. */
async function openStack(): Promise<CorpusStack> {
  const server = await startService({ seed: await corpusSeed() });
  onTestFinished(() => server.close());
  const stack = stackIn({ directory: temporaryFolder(), stack: corpusStack(server.url), env: corpusEnv });
  return {
    use: (file) => copyFile(file, join(stack.directory, 'manifests.yaml')),
    expectCode: async (args, code) => {
      const { out } = await stack.run(args, code);
      expect(out).not.toMatch(/answered otherwise than sent|cannot be verified/);
    },
  };
}

describe.each([...kinds.keys()])('%s: after an apply the next plan is empty', (kind) => {
  it.each(corpusCases(kind))('%s, there and back again', async (name) => {
    const [before, after] = [corpusFile(kind, name, 'before'), corpusFile(kind, name, 'after')];
    const { use, expectCode } = await openStack();
    const changes = name.startsWith('same') ? 0 : 2;
    for (const [file, pending] of [
      [before, 2],
      [after, changes],
      [before, changes],
    ] as const) {
      await use(file);
      await expectCode(['plan', '--exit-code'], pending);
      await expectCode(['apply', '--yes'], 0);
      await expectCode(['plan', '--exit-code'], 0);
    }
  });
});
