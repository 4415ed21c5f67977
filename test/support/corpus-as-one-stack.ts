/**
 * The corpus of the workspaces kinds as one stack, with an organization for each case: a few commands check all cases that
 * `corpus.test.ts` checks one by one, also on a service that lacks parts of the API.
 */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { expect, onTestFinished } from 'vitest';
import { adjustableGuardIds } from '../../src/model/guard.ts';
import type { PlanJson } from '../../src/report/json/plan-schema.ts';
import type { Seed } from '../../src/server/seed/seed-schema.ts';
import { openFaultyProxy } from './cli/faulty-proxy.ts';
import { corpusCases, corpusDocuments, corpusEnv, corpusSeedFile, needsSelfHosted } from './corpus.ts';
import { dialectUnderTest, type WorkspacesDialect } from './rig/dialect-under-test.ts';
import { smallSeed, startService } from './rig/embedded-service.ts';
import { documentsText, type StackFolder, stackIn, workspacesTarget } from './rig/stack-folder.ts';
import { temporaryFolder } from './rig/temporary-folder.ts';
import { type Lack, lacking } from './simulation/limited-service.ts';

interface Case {
  readonly kind: string;
  readonly name: string;
  /** the name of its organization and target, and the suffix of ids in it */
  readonly place: string;
}

function casesIn(dialect: WorkspacesDialect): readonly Case[] {
  return ['Workspace', 'TagBindings', 'RemoteStateConsumers'].flatMap((kind) =>
    corpusCases(kind, dialect).map((name, index) => ({
      ...{ kind, name },
      place: `${kind.toLowerCase()}-${index}`,
    })),
  );
}

/** Ids are unique in the service, so each organization has its own. */
function inPlace(text: string, place: string): string {
  return text.replaceAll(/\b(prj|apool|sshkey|ot|app)-(alpha|beta|\d)\b/g, `$&-${place}`);
}

async function seed(cases: readonly Case[]): Promise<Seed> {
  const text = await readFile(corpusSeedFile, 'utf8');
  const organizations = cases.flatMap(({ place }) => {
    const { organizations: [one] = [] } = load(inPlace(text, place)) as Seed;
    const teams = [{ name: 'owners', members: ['corpus'] }];
    return one === undefined ? [] : [{ ...one, name: place, teams }];
  });
  return { ...smallSeed({ owners: { corpus: corpusEnv.API_TOKEN } }), organizations };
}

interface LimitedService {
  readonly dialect: WorkspacesDialect;
  readonly missing: readonly Lack[];
}

/** Starts a service with all organizations, behind a proxy that limits it. @returns the URL of the proxy */
async function serveLimited({ dialect, missing }: LimitedService, edition?: string): Promise<string> {
  const server = await startService({
    seed: await seed(casesIn(dialect)),
    dialects: [dialect],
    relaxed: true,
    ...(edition === undefined ? {} : { edition }),
  });
  onTestFinished(() => server.close());
  const wire = await openFaultyProxy(server.url);
  wire.setHandler(lacking(...missing));
  return wire.url;
}

async function openLimited(service: LimitedService): Promise<StackFolder> {
  const { dialect, missing } = service;
  const url = await serveLimited(service);
  // Only the neutral dialect has an edition with all features.
  const selfHosted = dialect === 'neutral' ? url : await serveLimited(service, 'self-hosted');
  const allowed = {
    ...(missing.includes('tag-bindings') ? { ownership: 'ledger' } : {}),
    ...(missing.includes('safe-delete') ? { deletes: 'plain' } : {}),
  };
  const targets = casesIn(dialect).map((one) =>
    workspacesTarget(needsSelfHosted(one) ? selfHosted : url, {
      ...{ name: one.place, organization: one.place, dialect, requestsPerSecond: 10_000 },
      ...allowed,
    }),
  );
  const spec = { guards: { maxDeletes: 10_000, allow: adjustableGuardIds } };
  const stack = { name: 'corpus', targets, spec, manifests: ['manifests/*.yaml'] };
  return stackIn({ directory: temporaryFolder(), stack, env: corpusEnv });
}

/** The code of the problem of a case that needs what is missing. */
const codes: Partial<Record<Lack, string>> = { 'tag-bindings': 'no-tag-bindings', consumers: 'no-consumers' };

/** The cases that can be applied. Each other one has a problem whose code belongs to what is missing. */
async function possibleCases(
  stack: StackFolder,
  some: readonly Case[],
  missing: readonly Lack[],
): Promise<readonly Case[]> {
  const known = missing.flatMap((lack) => codes[lack] ?? []);
  if (known.length === 0) return some;
  const { out } = await stack.tryRun(['plan', '--format', 'json']);
  const { problems } = JSON.parse(out) as PlanJson;
  const unforeseen = problems.filter(({ code }) => !known.includes(code));
  expect(unforeseen.map(({ message, place }) => [message, place?.file])).toEqual([]);
  const refused = new Set(problems.map(({ place }) => place?.file.replace(/^manifests\/(.*)\.yaml$/, '$1')));
  return some.filter(({ place }) => !refused.has(place));
}

/**
 * Applies one side of all cases, then the other, and expects that the next plan is empty each time. A case that needs what is
 * missing must have a problem in its plan, and is left out then.
 */
export async function expectEveryCase({
  dialect = dialectUnderTest,
  missing = [],
}: Partial<LimitedService>): Promise<void> {
  const stack = await openLimited({ dialect, missing });
  const declare = async (some: readonly Case[], side: 'before' | 'after') => {
    await rm(join(stack.directory, 'manifests'), { recursive: true, force: true });
    for (const one of some) {
      const manifests = documentsText(corpusDocuments({ ...one, side }, one.place));
      await stack.write(`manifests/${one.place}.yaml`, inPlace(manifests, one.place));
    }
  };
  const cases = casesIn(dialect);
  let left = cases;
  for (const side of ['before', 'after'] as const) {
    await declare(left, side);
    left = await possibleCases(stack, left, missing);
    await declare(left, side);
    const { out } = await stack.run(['apply', '--yes'], 0);
    expect(out).not.toMatch(/with another value than sent/);
    await stack.run(['plan', '--exit-code'], 0);
  }
  if (missing.every((lack) => codes[lack] === undefined)) expect(left).toEqual(cases);
  expect(left.length).toBeGreaterThan(100);
}
