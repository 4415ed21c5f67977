/**
 * The corpus: for every field of every kind a pair of manifests. Each pair is applied there and back over the real wire,
 * and after each apply the next plan must be empty. Pairs whose name begins with "same" mean the same on both sides.
 */
import { readdirSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { guardIds } from '../src/model/plan/guard.ts';
import { startServer } from '../src/server/start-server.ts';
import { trueup } from './support/captured-world.ts';

const corpus = new URL('./corpus/', import.meta.url).pathname;
const env = {
  API_TOKEN: 'corpus-owner-token',
  SERVICE_TOKEN: 'corpus-service-token',
  REVIEWER_JWT: 'corpus-reviewer-jwt',
  OTHER_JWT: 'corpus-other-jwt',
};

/** The corpus's seed with tokens that the stack below uses. */
async function seed(): Promise<object> {
  const common = load(await readFile(join(corpus, 'seed.yaml'), 'utf8')) as Record<string, unknown[]>;
  const organizations = (common['organizations'] ?? []).map((organization) => ({
    ...(organization as object),
    teams: [{ name: 'owners', members: ['corpus'] }],
  }));
  return {
    ...common,
    organizations,
    users: [{ username: 'corpus', token: env.API_TOKEN }],
    mounts: ['cluster'],
    'service-tokens': [{ token: env.SERVICE_TOKEN, policies: ['root'] }],
  };
}

function stackFor(url: string): string {
  return JSON.stringify({
    apiVersion: 'trueup.dev/v1',
    kind: 'Stack',
    metadata: { name: 'corpus' },
    spec: {
      manifests: ['manifests.yaml'],
      // A pair may open or take away whatever it is about: its guards are not what is tried here.
      guards: { maxDeletes: 1000, allow: guardIds },
      targets: [
        {
          name: 'acme',
          service: 'workspaces',
          url,
          organization: 'acme',
          token: { env: 'API_TOKEN' },
          dialect: 'neutral',
          requestsPerSecond: 10_000,
        },
        {
          name: 'prod',
          service: 'cluster-auth',
          url,
          mount: 'cluster',
          token: { env: 'SERVICE_TOKEN' },
          dialect: 'neutral',
          requestsPerSecond: 10_000,
        },
      ],
    },
  });
}

interface Bench {
  /** the manifests of the stack are these from now on */
  use(file: string): Promise<void>;
  /** runs one command, expects its exit code, and that no answer of the service is doubted */
  expectCode(args: readonly string[], code: number): Promise<void>;
}

/** A stack in a temporary directory, with an embedded service of its own. */
async function withBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  const server = await startServer({ data: ':memory:', seed: await seed() });
  const directory = await mkdtemp(join(tmpdir(), 'trueup-corpus-'));
  try {
    await writeFile(join(directory, 'trueup.yaml'), stackFor(server.url));
    await work({
      use: (file) => copyFile(file, join(directory, 'manifests.yaml')),
      expectCode: async (args, code) => {
        const ran = await trueup(args, { cwd: directory, env });
        expect(ran, ran.out + ran.err).toMatchObject({ code });
        expect(ran.out).not.toMatch(/answered otherwise than sent|cannot be verified/);
      },
    });
  } finally {
    await server.close();
    await rm(directory, { recursive: true });
  }
}

describe.each([...kinds.keys()])('%s: after an apply the next plan is empty', (kind) => {
  const cases = readdirSync(join(corpus, kind)).sort();

  it.each(cases)('%s, there and back again', async (name) => {
    const [before, after] = ['before.yaml', 'after.yaml'].map((file) => join(corpus, kind, name, file));
    if (before === undefined || after === undefined) throw new Error('a case has two files');
    await withBench(async ({ use, expectCode }) => {
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
});
