/**
 * The corpus: for every field of every kind a pair of manifests. Each pair is applied there and back over the real wire,
 * and after each apply the next plan must be empty. Pairs whose name begins with "same" mean the same on both sides.
 */
import { readdirSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it, onTestFinished } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { guardIds } from '../src/model/plan/guard.ts';
import type { Seed } from '../src/server/seed/seed.ts';
import { smallSeed, startService } from './support/rig/embedded-service.ts';
import { clusterAuthTarget, type StackFile, stackIn, workspacesTarget } from './support/rig/stack-folder.ts';
import { temporaryFolder } from './support/rig/temporary-folder.ts';

const corpus = new URL('./corpus/', import.meta.url).pathname;
const env = {
  API_TOKEN: 'corpus-owner-token',
  SERVICE_TOKEN: 'corpus-service-token',
  REVIEWER_JWT: 'corpus-reviewer-jwt',
  OTHER_JWT: 'corpus-other-jwt',
};

/** The corpus's seed with tokens that the stack below uses. */
async function seed(): Promise<Seed> {
  const common = load(await readFile(join(corpus, 'seed.yaml'), 'utf8')) as Pick<Seed, 'organizations'>;
  const [organization = {}] = common.organizations ?? [];
  const small = smallSeed({
    owners: { corpus: env.API_TOKEN },
    serviceToken: env.SERVICE_TOKEN,
    organization,
  });
  return { ...common, ...small };
}

function stackFor(url: string): StackFile {
  return {
    name: 'corpus',
    targets: [workspacesTarget(url), clusterAuthTarget(url)],
    // A pair may open or take away whatever it is about: its guards are not what is tried here.
    spec: { guards: { maxDeletes: 1000, allow: guardIds } },
  };
}

interface CorpusStack {
  /** the manifests of the stack are these from now on */
  use(file: string): Promise<void>;
  /** runs one command, expects its exit code, and that no answer of the service is doubted */
  expectCode(args: readonly string[], code: number): Promise<void>;
}

/** A stack in a temporary directory, with an embedded service of its own. */
async function openStack(): Promise<CorpusStack> {
  const server = await startService({ seed: await seed() });
  onTestFinished(() => server.close());
  const stack = stackIn({ directory: temporaryFolder(), stack: stackFor(server.url), env });
  return {
    use: (file) => copyFile(file, join(stack.directory, 'manifests.yaml')),
    expectCode: async (args, code) => {
      const { out } = await stack.run(args, code);
      expect(out).not.toMatch(/answered otherwise than sent|cannot be verified/);
    },
  };
}

describe.each([...kinds.keys()])('%s: after an apply the next plan is empty', (kind) => {
  const cases = readdirSync(join(corpus, kind)).sort();

  it.each(cases)('%s, there and back again', async (name) => {
    const [before, after] = ['before.yaml', 'after.yaml'].map((file) => join(corpus, kind, name, file));
    if (before === undefined || after === undefined) throw new Error('a case has two files');
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
