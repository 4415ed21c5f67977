/**
 * Checks a seed: its schema, and then what a schema cannot express: references to missing items, and names, ids, tokens or serials
 * that occur twice. The content of a seed that passes causes no error when the seed is applied.
 */
import { eventProblems } from '../workspaces/audit-trail.ts';
import { DEFAULT_POLICY, ROOT_POLICY, tokenPolicies } from '../cluster-auth/policy-rules.ts';
import { schemaCheck } from '../kernel/check-schema.ts';
import { DEFAULT_PROJECT } from '../workspaces/project-record.ts';
import { compiledSeed } from './compiled-seed.ts';
import { SEED_FORMATS } from './seed-formats.ts';
import {
  type NamedSeed,
  type OrganizationSeed,
  type Seed,
  seedSchema,
  type ServiceTokenSeed,
  type WorkspaceSeed,
} from './seed-schema.ts';
import { serialAt, stateVersionsOf } from './seed-workspace.ts';
import { secondsOf, tokensOf } from './seeding.ts';

/** Why a seed was refused: one line for each problem, each with its path (`organizations[0].teams[1].name`). */
export class SeedError extends Error {
  override readonly name = 'SeedError';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(`the seed is malformed:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.problems = problems;
  }
}

const checkShape = schemaCheck(seedSchema, {
  root: 'the seed',
  formats: SEED_FORMATS,
  compiled: compiledSeed,
});

/** Checks parsed YAML; an empty file seeds nothing. @throws SeedError that names every problem with its path. */
export function readSeed(data: unknown): Seed {
  // YAML reads an unquoted time as a date, but the schema only knows texts.
  const seed: unknown = JSON.parse(JSON.stringify(data ?? {}));
  const schemaProblems = checkShape(seed).map(({ text }) => text);
  if (schemaProblems.length > 0) throw new SeedError(schemaProblems);
  const problems = contradictions(seed as Seed);
  if (problems.length > 0) throw new SeedError(problems);
  return seed as Seed;
}

function contradictions(seed: Seed): string[] {
  const users = placed('users', seed.users);
  const usernames = new Set(users.map(({ each }) => each.username));
  const unknownUsers = (at: string, names: readonly string[]): string[] =>
    missing(at, 'user', names, usernames).map((problem) => `${problem}, who is not among users`);
  const organizations = placed('organizations', seed.organizations);
  return [
    ...users.flatMap(({ at, each }) =>
      unknownUsers(
        at,
        (each.tokens ?? []).flatMap((token) => token['impersonated-by'] ?? []),
      ),
    ),
    ...organizations.flatMap(({ at, each }) => [
      ...placed(`${at}.audit-events`, each['audit-events']).flatMap((event) =>
        eventProblems(event.each, event.at),
      ),
      ...unknownUsers(at, usersOf(each)),
      ...unknownNames(each, at),
    ]),
    ...mountProblems(seed.mounts ?? []),
    ...placed('service-tokens', seed['service-tokens']).flatMap(({ at, each }) =>
      serviceTokenProblems(seed, each, at),
    ),
    ...findDuplicates(seed),
  ];
}

/** One line for each unknown name. */
function missing(at: string, what: string, names: readonly string[], known: ReadonlySet<string>): string[] {
  return names.filter((name) => !known.has(name)).map((name) => `${at} names the ${what} "${name}"`);
}

function usersOf(organization: OrganizationSeed): string[] {
  const actors = (organization['audit-events'] ?? []).flatMap((event) => [
    event.by ?? [],
    event['impersonated-by'] ?? [],
  ]);
  return [
    ...(organization.members ?? []),
    ...(organization.teams ?? []).flatMap((team) => team.members ?? []),
    ...new Set(actors.flat()),
  ];
}

function unknownNames(seed: OrganizationSeed, at: string): string[] {
  const { projects = [], workspaces = [], teams = [] } = seed;
  const unknown = (list: keyof OrganizationSeed, what: string, names: string[], known: string[]): string[] =>
    missing(at, what, names, new Set(known)).map((problem) => `${problem}, which is not among its ${list}`);
  const namesIn = (list: readonly { readonly name: string }[] = []) => list.map(({ name }) => name);
  return [
    ...unknown(
      'agent-pools',
      'agent pool',
      [seed, ...projects].flatMap((one) => one['default-agent-pool'] ?? []),
      namesIn(seed['agent-pools']),
    ),
    ...unknown(
      'projects',
      'project',
      [
        ...workspaces.flatMap(({ project }) => project ?? []),
        ...teams.flatMap((team) => Object.keys(team['project-access'] ?? {})),
      ],
      [DEFAULT_PROJECT, ...namesIn(projects)],
    ),
    ...workspaces.flatMap((workspace) => unknownConfigurations(workspace, at)),
    ...unknown(
      'workspaces',
      'workspace',
      teams.flatMap((team) => Object.keys(team['workspace-access'] ?? {})),
      namesIn(workspaces),
    ),
  ];
}

function unknownConfigurations(workspace: WorkspaceSeed, at: string): string[] {
  const known = new Set(workspace['configuration-versions']?.flatMap(({ id }) => id ?? []));
  const names = (workspace.runs ?? []).flatMap((run) => run['configuration-version'] ?? []);
  return missing(at, 'configuration version', names, known).map(
    (problem) => `${problem}, which is not among those of the workspace "${workspace.name}"`,
  );
}

/** The path of the token API, which is below `auth/` like a mount. */
const TOKEN_STORE = 'token';

function mountProblems(mounts: readonly string[]): string[] {
  return mounts.flatMap((path, index) => {
    const taken = [TOKEN_STORE, ...mounts.slice(0, index)].find(
      (other) => `${path}/`.startsWith(`${other}/`) || `${other}/`.startsWith(`${path}/`),
    );
    return taken === undefined ? [] : [`mounts[${index}] overlaps the path "${taken}"`];
  });
}

/** Policies that do not exist, and combinations that no request could create. */
function serviceTokenProblems({ policies = [] }: Seed, token: ServiceTokenSeed, at: string): string[] {
  const known = new Set([ROOT_POLICY, DEFAULT_POLICY, ...policies.map(({ name }) => name.toLowerCase())]);
  const longest = secondsOf(token['explicit-max-ttl']);
  const notForBatch = {
    period: secondsOf(token.period) > 0,
    'num-uses': (token['num-uses'] ?? 0) > 0,
    renewable: token.renewable === true,
  };
  return [
    ...missing(at, 'policy', tokenPolicies(token.policies, false), known).map(
      (problem) => `${problem}, which is not among policies`,
    ),
    ...Object.entries(notForBatch).flatMap(([member, isGiven]) =>
      token.type === 'batch' && isGiven ? [`${at}.${member} must not be set for a batch token`] : [],
    ),
    ...(token.ttl !== undefined && token['expires-at'] !== undefined
      ? [`${at}.ttl and expires-at both say when it ends: leave one out`]
      : []),
    ...(longest > 0 && secondsOf(token.ttl) > longest ? [`${at}.ttl is longer than explicit-max-ttl`] : []),
  ];
}

// Names, ids, tokens and serials that a seed uses twice: of two items with one identity, one would silently be lost or replace the
// other. A token is a secret, so the message only has the paths.

interface Identity {
  /** Its path in the seed. */
  readonly at: string;
  /** Where the value must be unique. */
  readonly scope: readonly string[];
  readonly what: 'name' | 'username' | 'id' | 'key' | 'serial' | 'token';
  readonly value: string | number | undefined;
}

/** One line for each item of a seed that has the identity of an earlier item. */
function findDuplicates(seed: Seed): string[] {
  const places = new Map<string, string>();
  return identitiesOf(seed).flatMap(({ at, scope, what, value }) => {
    if (value === undefined) return [];
    const identity = JSON.stringify([...scope, what, value]);
    const first = places.get(identity);
    if (first === undefined) {
      places.set(identity, at);
      return [];
    }
    const repeated = what === 'token' ? `token of ${first}` : `${what} ${JSON.stringify(value)}`;
    return [`${at} repeats the ${repeated}`];
  });
}

function identitiesOf(seed: Seed): Identity[] {
  return [
    ...placed('users', seed.users).map(({ at, each }) => ({
      at,
      what: 'username' as const,
      value: each.username,
      scope: ['users'],
    })),
    ...placed('organizations', seed.organizations).flatMap(({ at, each }) => identitiesIn(each, at)),
    // names of policies are stored in lower case
    ...placed('policies', seed.policies).map(({ at, each }) => ({
      at,
      what: 'name' as const,
      value: each.name.toLowerCase(),
      scope: ['policies'],
    })),
    ...tokenIdentities(seed),
  ];
}

const WITH_IDS = [
  'projects',
  'agent-pools',
  'ssh-keys',
  'oauth-tokens',
  'vcs-app-installations',
  'workspaces',
] as const;
/** Only the id of a connection must be unique; its name is for people. */
const WITHOUT_UNIQUE_NAMES: readonly string[] = ['oauth-tokens', 'vcs-app-installations'];

/** Names are unique in one organization, ids in the whole seed. */
function identitiesIn(seed: OrganizationSeed, at: string): Identity[] {
  const named = (kind: 'teams' | (typeof WITH_IDS)[number]): Identity[] =>
    placed<Partial<NamedSeed>>(`${at}.${kind}`, seed[kind]).flatMap(({ at: place, each: { name, id } }) => [
      {
        at: place,
        what: 'name',
        value: WITHOUT_UNIQUE_NAMES.includes(kind) ? undefined : name,
        scope: [kind, seed.name],
      },
      { at: place, what: 'id', value: id, scope: [kind] },
    ]);
  return [
    { at, what: 'name', value: seed.name, scope: ['organizations'] },
    ...WITH_IDS.flatMap(named),
    ...named('teams'),
    ...placed(`${at}.workspaces`, seed.workspaces).flatMap((one) => identitiesOfWorkspace(one.each, one.at)),
  ];
}

function identitiesOfWorkspace(seed: WorkspaceSeed, at: string): Identity[] {
  const listed = seed['state-versions']?.length ?? 0;
  return [
    ...placed(`${at}.vars`, seed.vars).map(
      (one): Identity => ({
        at: one.at,
        what: 'key',
        value: one.each.key,
        scope: [at, one.each.category ?? 'engine'],
      }),
    ),
    ...stateVersionsOf(seed).map((version, index): Identity => {
      const place = index < listed ? `state-versions[${index}]` : 'intermediate-state-version';
      return { at: `${at}.${place}`, what: 'serial', value: serialAt(version, index), scope: [at] };
    }),
    ...placed(`${at}.state-versions`, seed['state-versions']).flatMap((version) =>
      placed(`${version.at}.outputs`, version.each.outputs).map(
        (one): Identity => ({ at: one.at, what: 'name', value: one.each.name, scope: [version.at] }),
      ),
    ),
  ];
}

/** Tokens of all kinds must differ, because only the token identifies the caller. */
function tokenIdentities(seed: Seed): Identity[] {
  const organizations = placed('organizations', seed.organizations);
  const holders: readonly Placed<Parameters<typeof tokensOf>[0]>[] = [
    ...placed('users', seed.users),
    ...organizations,
    ...organizations.flatMap(({ at, each }) => placed(`${at}.teams`, each.teams)),
    ...placed('service-tokens', seed['service-tokens']),
  ];
  const tokens = holders.flatMap(({ at, each }) => {
    const first = each.token === undefined ? 0 : 1;
    return tokensOf(each).map(({ token }, index) => ({
      at: index < first ? at : `${at}.tokens[${index - first}]`,
      token,
    }));
  });
  const forTrails = organizations.map(({ at, each }) => ({
    at: `${at}.audit-trails-token`,
    token: each['audit-trails-token'],
  }));
  return [...tokens, ...forTrails].map(({ at, token }) => ({
    at,
    what: 'token',
    value: token,
    scope: ['tokens'],
  }));
}

interface Placed<T> {
  readonly at: string;
  readonly each: T;
}

/** Each item of a list with its path. */
function placed<T>(list: string, items: readonly T[] | undefined): Placed<T>[] {
  return (items ?? []).map((each, index) => ({ at: `${list}[${index}]`, each }));
}
