/**
 * The corpus: for every field of every kind a pair of manifests. Each pair is applied there and back over the real wire,
 * and after each apply the next plan must be empty. Pairs whose name begins with "same" mean the same on both sides.
 */
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kinds } from '../src/kinds/index.ts';
import { type RunningServer, startServer } from '../src/server/start-server.ts';
import { trueup } from './captured-world.ts';

const corpus = new URL('./corpus/', import.meta.url).pathname;
const env = {
  API_TOKEN: 'corpus-owner-token',
  SERVICE_TOKEN: 'corpus-service-token',
  REVIEWER_JWT: 'corpus-reviewer-jwt',
  OTHER_JWT: 'corpus-other-jwt',
};

async function casesOf(kind: string): Promise<string[]> {
  const folder = join(corpus, kind);
  return existsSync(folder) ? (await readdir(folder)).sort() : [];
}

/** The corpus's seed with tokens that the stack below uses. */
async function seed() {
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

let server: RunningServer;
let directory: string;

async function use(file: string): Promise<void> {
  await copyFile(file, join(directory, 'manifests.yaml'));
}

async function applyAndProve(file: string): Promise<void> {
  await use(file);
  const applied = await trueup(['apply', '--yes'], { cwd: directory, env });
  expect(applied, applied.out + applied.err).toMatchObject({ code: 0 });
  const again = await trueup(['plan', '--exit-code'], { cwd: directory, env });
  expect(again, again.out + again.err).toMatchObject({ code: 0 });
}

for (const kind of kinds.keys()) {
  const cases = await casesOf(kind);
  describe(`${kind}: after an apply the next plan is empty`, () => {
    it('has at least one case', () => expect(cases.length).toBeGreaterThan(0));

    describe.each(cases)('%s', (name) => {
      const before = join(corpus, kind, name, 'before.yaml');
      const after = join(corpus, kind, name, 'after.yaml');

      beforeAll(async () => {
        server = await startServer({ data: ':memory:', seed: (await seed()) as never });
        directory = await mkdtemp(join(tmpdir(), 'trueup-corpus-'));
        await mkdir(directory, { recursive: true });
        await writeFile(join(directory, 'trueup.yaml'), stackFor(server.url));
      });
      afterAll(async () => {
        await server.close();
        await rm(directory, { recursive: true });
      });

      it('there and back again', async () => {
        await applyAndProve(before);
        if (name.startsWith('same')) {
          await use(after);
          const plan = await trueup(['plan', '--exit-code'], { cwd: directory, env });
          expect(plan, plan.out + plan.err).toMatchObject({ code: 0 });
        } else {
          await use(after);
          const plan = await trueup(['plan', '--exit-code'], { cwd: directory, env });
          expect(plan, plan.out + plan.err).toMatchObject({ code: 2 });
        }
        await applyAndProve(after);
        await applyAndProve(before);
      });
    });
  });
}
