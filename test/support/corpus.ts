/** The corpus of manifests: its cases, the seed that they need, and a stack for them. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { adjustableGuardIds } from '../../src/model/guard.ts';
import type { Seed } from '../../src/server/seed/seed-schema.ts';
import { smallSeed } from './rig/embedded-service.ts';
import { clusterAuthTarget, type StackFile, workspacesTarget } from './rig/stack-folder.ts';

const corpus = new URL('../corpus/', import.meta.url).pathname;

/** The content of the organization before a case. */
export const corpusSeedFile = join(corpus, 'seed.yaml');
export const corpusEnv = {
  API_TOKEN: 'corpus-owner-token',
  SERVICE_TOKEN: 'corpus-service-token',
  REVIEWER_JWT: 'corpus-reviewer-jwt',
  OTHER_JWT: 'corpus-other-jwt',
};

/** The seed of the corpus, with the tokens of `corpusStack`. */
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

/** @param workspaces further members of the target of workspaces */
export function corpusStack(url: string, workspaces: object = {}): StackFile {
  return {
    name: 'corpus',
    targets: [workspacesTarget(url, workspaces), clusterAuthTarget(url)],
    // Cases may widen access and delete resources: guards are not the subject of these tests.
    spec: { guards: { maxDeletes: 1000, allow: adjustableGuardIds } },
  };
}

type Side = 'before' | 'after';

interface CaseName {
  readonly kind: string;
  readonly name: string;
}

/** A document in short form; by default with the kind of the file, the usual name of the kind, and an empty spec. */
interface CorpusDocument {
  readonly kind?: string;
  readonly name?: string;
  /** one document each */
  readonly names?: readonly string[];
  /** metadata besides the name */
  readonly metadata?: object;
  readonly spec?: object;
}

/** `corpus/<Kind>.yaml`. A side that is not a list is the spec of one resource; `.base` has further fields of that spec. */
type CorpusFile = Readonly<Record<string, Readonly<Record<Side, object | readonly CorpusDocument[]>>>> & {
  readonly '.base'?: object;
};

const usualNames: Readonly<Record<string, string>> = {
  ClusterAuthConfig: 'config',
  ClusterAuthRole: 'payments-api',
};

const files = new Map(
  readdirSync(corpus).map((file): [string, CorpusFile] => [
    file.replace('.yaml', ''),
    load(readFileSync(join(corpus, file), 'utf8')) as CorpusFile,
  ]),
);

/** The names of the cases of a kind, sorted; only those that the dialect has. */
export function corpusCases(kind: string, dialect = 'hcp-terraform'): readonly string[] {
  const all = Object.keys(files.get(kind) ?? {}).filter((name) => !name.startsWith('.'));
  return dialect === 'hcp-terraform' ? all : all.filter((name) => !needsHcpTerraform({ kind, name }));
}

/** One side of a case. @param target in every document; none when absent */
export function corpusDocuments(one: CaseName & { readonly side: Side }, target?: string): readonly object[] {
  const file = files.get(one.kind);
  const side = file?.[one.name]?.[one.side] ?? [];
  const documents: readonly CorpusDocument[] = Array.isArray(side)
    ? side
    : [{ spec: { ...file?.['.base'], ...side } }];
  return documents.flatMap(
    ({ kind = one.kind, name = usualNames[one.kind] ?? 'app', names = [name], metadata, spec = {} }) =>
      names.map((each) => ({
        apiVersion: 'trueup.dev/v1',
        kind,
        metadata: { ...(target === undefined ? {} : { target }), name: each, ...metadata },
        spec,
      })),
  );
}

/** Whether a case sets a field that the hosted edition of the real service does not have (wire/workspaces 2.5). */
export function needsSelfHosted(one: CaseName): boolean {
  return includesText(one, '"dataRetentionPolicy":{');
}

/** Whether a case has a field that the specification does not have (wire/workspaces 1.5.24). */
function needsHcpTerraform(one: CaseName): boolean {
  return includesText(one, '"structuredRunOutputEnabled":');
}

function includesText(one: CaseName, text: string): boolean {
  const sides = (['before', 'after'] as const).map((side) => corpusDocuments({ ...one, side }));
  return JSON.stringify(sides).includes(text);
}
