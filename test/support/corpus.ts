/** The corpus of manifests: its cases, the seed that they need, and a stack for them. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { guardIds } from '../../src/model/guard.ts';
import type { Seed } from '../../src/server/seed/seed.ts';
import { smallSeed } from './rig/embedded-service.ts';
import { clusterAuthTarget, type StackFile, workspacesTarget } from './rig/stack-folder.ts';

const corpus = new URL('../corpus/', import.meta.url).pathname;

/** What stands in the organization before a case. */
export const corpusSeedFile = join(corpus, 'seed.yaml');
export const corpusEnv = {
  API_TOKEN: 'corpus-owner-token',
  SERVICE_TOKEN: 'corpus-service-token',
  REVIEWER_JWT: 'corpus-reviewer-jwt',
  OTHER_JWT: 'corpus-other-jwt',
};

/** The corpus's seed with tokens that the stack below uses. */
export async function corpusSeed(): Promise<Seed> {
  const common = load(await readFile(corpusSeedFile, 'utf8')) as Pick<Seed, 'organizations'>;
  const [organization = {}] = common.organizations ?? [];
  const small = smallSeed({
    owners: { corpus: corpusEnv.API_TOKEN },
    serviceToken: corpusEnv.SERVICE_TOKEN,
    organization,
  });
  return { ...common, ...small };
}

/** @param workspaces more members for the target of workspaces */
export function corpusStack(url: string, workspaces: object = {}): StackFile {
  return {
    name: 'corpus',
    targets: [workspacesTarget(url, workspaces), clusterAuthTarget(url)],
    // A pair may open or take away whatever it is about: its guards are not what is tried here.
    spec: { guards: { maxDeletes: 1000, allow: guardIds } },
  };
}

/** The names of the cases of a kind that a dialect can be asked for, sorted. */
export function corpusCases(kind: string, dialect: string): readonly string[] {
  const all = readdirSync(join(corpus, kind)).sort();
  return dialect === 'hcp-terraform' ? all : all.filter((name) => !needsHcpTerraform({ kind, name }));
}

type Side = 'before' | 'after';

interface CaseName {
  readonly kind: string;
  readonly name: string;
}

/** Whether a case sets what the hosted edition of the real service does not have (wire/workspaces 2.5). */
export function needsSelfHosted(one: CaseName): boolean {
  return says(one, 'dataRetentionPolicy: {');
}

/** Whether a case has a field that the specification does not have (wire/workspaces 1.5.24). */
function needsHcpTerraform(one: CaseName): boolean {
  return says(one, 'structuredRunOutputEnabled:');
}

function says({ kind, name }: CaseName, text: string): boolean {
  return (['before', 'after'] as const).some((side) =>
    readFileSync(corpusFile(kind, name, side), 'utf8').includes(text),
  );
}

/** The file with the manifests of one side of a case. */
export function corpusFile(kind: string, name: string, side: Side): string {
  return join(corpus, kind, name, `${side}.yaml`);
}

/** One side of a case, every document of it for this target. */
export async function corpusManifests(
  { kind, name, side }: { readonly kind: string; readonly name: string; readonly side: Side },
  target: string,
): Promise<string> {
  const text = await readFile(corpusFile(kind, name, side), 'utf8');
  return text.replaceAll(/^metadata: \{/gm, `metadata: { target: ${target},`);
}
