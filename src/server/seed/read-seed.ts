/**
 * Checks a seed, key by key like seed.ts, and then what shapes cannot show: references to what the seed lacks, and names, ids,
 * tokens or serials that it uses twice. A seed that passes can be applied; applying never fails half-way over its content.
 */
import { addedEvent } from '../audit-trails/added-events.ts';
import { NAME_LIMIT, TEXT_LIMIT } from '../kernel/request-body.ts';
import {
  type Check,
  count,
  flag,
  listOf,
  mapOf,
  object,
  oneOf,
  SeedError,
  shortText,
  text,
  time,
} from '../kernel/shape-checks.ts';
import { isExactVersion } from '../workspaces/engine-releases.ts';
import { GRANTABLE_PERMISSIONS } from '../workspaces/permissions.ts';
import { DEFAULT_PROJECT } from '../workspaces/project-record.ts';
import { EXECUTION_MODES } from '../workspaces/workspace-record.ts';
import { mount, policy, serviceProblems, serviceToken, tagBindings, workspace } from './seed-checks.ts';
import { serialAt, stateVersionsOf } from './seed-workspace.ts';
import type { NamedSeed, OrganizationSeed, Seed, TokenSeed, WorkspaceSeed } from './seed.ts';
import { tokensOf } from './seeding.ts';

const executionMode = oneOf(...EXECUTION_MODES);

const workspaceAccess: Check = (value, path, problems) => {
  if (Array.isArray(value)) listOf(oneOf(...GRANTABLE_PERMISSIONS))(value, path, problems);
  else oneOf('read', 'plan', 'write', 'admin')(value, path, problems);
};

const release: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !isExactVersion(value)) {
    problems.push(`${path} must be a whole version, for example 1.9.8`);
  }
};

const tokenMembers = { token: text, description: text, 'expires-at': time };
const token = object(tokenMembers, ['token']);
const userToken = object({ ...tokenMembers, 'impersonated-by': text }, ['token']);
const user = object({ username: text, email: text, token: text, tokens: listOf(userToken) }, ['username']);

const name = shortText(NAME_LIMIT);

const named = object({ name, id: text }, ['name']);

const vcsConnection = object({ id: text, name, 'service-provider': text, 'http-url': text }, ['id']);

const project = object(
  {
    name,
    id: text,
    description: shortText(TEXT_LIMIT),
    'default-execution-mode': executionMode,
    'default-agent-pool': text,
    'auto-destroy-activity-duration': text,
    'tag-bindings': tagBindings,
  },
  ['name'],
);

const team = object(
  {
    name,
    token: text,
    tokens: listOf(token),
    members: listOf(text),
    'manage-workspaces': flag,
    'read-workspaces': flag,
    'manage-projects': flag,
    'project-access': mapOf(oneOf('read', 'write', 'maintain', 'admin')),
    'workspace-access': mapOf(workspaceAccess),
  },
  ['name'],
);

const organization = object(
  {
    name,
    email: text,
    token: text,
    tokens: listOf(token),
    'audit-trails-token': text,
    'audit-events': listOf(addedEvent),
    'default-execution-mode': executionMode,
    'default-agent-pool': text,
    'allow-force-delete-workspaces': flag,
    'assessments-enforced': flag,
    'global-remote-state-default': flag,
    'data-retention-policy': object({ 'delete-older-than-n-days': count }),
    members: listOf(text),
    projects: listOf(project),
    'agent-pools': listOf(named),
    'ssh-keys': listOf(named),
    'oauth-tokens': listOf(vcsConnection),
    'vcs-app-installations': listOf(vcsConnection),
    teams: listOf(team),
    workspaces: listOf(workspace),
  },
  ['name'],
);

const seed = object({
  organizations: listOf(organization),
  users: listOf(user),
  mounts: listOf(mount),
  releases: listOf(release),
  policies: listOf(policy),
  'service-tokens': listOf(serviceToken),
});

/** Checks parsed YAML. @throws SeedError that names every problem with its path. */
export function readSeed(data: unknown): Seed {
  const problems: string[] = [];
  // An empty file parses to nothing; it seeds nothing.
  if (data === undefined || data === null) return {};
  seed(data, '', problems);
  if (problems.length === 0) {
    const given = data as Seed;
    problems.push(...danglingReferences(given), ...serviceProblems(given), ...findDuplicates(given));
  }
  if (problems.length > 0) throw new SeedError(problems);
  return data as Seed;
}

/** Names that a seed refers to and does not make. Users, projects and pools must stand in the seed itself. */
function danglingReferences(given: Seed): string[] {
  const usernames = new Set(given.users?.map(({ username }) => username));
  const unknown = (at: string, named: readonly string[]): string[] =>
    named
      .filter((username) => !usernames.has(username))
      .map((username) => `${at} names the user "${username}", who is not among users`);
  const impersonators = (given.users ?? []).flatMap(({ tokens }, index) =>
    unknown(
      `users[${index}]`,
      (tokens ?? []).flatMap((one) => one['impersonated-by'] ?? []),
    ),
  );
  const ofOrganizations = (given.organizations ?? []).flatMap((each, index) => {
    const at = `organizations[${index}]`;
    return [...unknown(at, usersOf(each)), ...danglingNames(each, at)];
  });
  return [...impersonators, ...ofOrganizations];
}

function usersOf(each: OrganizationSeed): string[] {
  const actors = (each['audit-events'] ?? []).flatMap((one) => [one.by ?? [], one['impersonated-by'] ?? []]);
  return [
    ...(each.members ?? []),
    ...(each.teams ?? []).flatMap((one) => one.members ?? []),
    ...new Set(actors.flat()),
  ];
}

function danglingNames(each: OrganizationSeed, at: string): string[] {
  const pools = new Set(each['agent-pools']?.map((pool) => pool.name));
  const projects = new Set([DEFAULT_PROJECT, ...(each.projects ?? []).map((one) => one.name)]);
  const wantedPools = [each, ...(each.projects ?? [])].flatMap((one) => one['default-agent-pool'] ?? []);
  const wantedProjects = [
    ...(each.workspaces ?? []).flatMap((one) => one.project ?? []),
    ...(each.teams ?? []).flatMap((one) => Object.keys(one['project-access'] ?? {})),
  ];
  const workspaces = new Set((each.workspaces ?? []).map((one) => one.name));
  const wantedWorkspaces = (each.teams ?? []).flatMap((one) => Object.keys(one['workspace-access'] ?? {}));
  return [
    ...wantedPools
      .filter((name) => !pools.has(name))
      .map((name) => `${at} names the agent pool "${name}", which is not among its agent-pools`),
    ...wantedProjects
      .filter((name) => !projects.has(name))
      .map((name) => `${at} names the project "${name}", which is not among its projects`),
    ...(each.workspaces ?? []).flatMap((one) => danglingConfigurations(one, at)),
    ...wantedWorkspaces
      .filter((name) => !workspaces.has(name))
      .map((name) => `${at} names the workspace "${name}", which is not among its workspaces`),
  ];
}

function danglingConfigurations(workspace: WorkspaceSeed, at: string): string[] {
  const known = new Set(workspace['configuration-versions']?.flatMap(({ id }) => id ?? []));
  return (workspace.runs ?? [])
    .flatMap((run) => run['configuration-version'] ?? [])
    .filter((id) => !known.has(id))
    .map(
      (id) =>
        `${at} names the configuration version "${id}", which is not among those of the workspace "${workspace.name}"`,
    );
}

// What a seed has twice: names, ids, tokens, serials that can be of one thing only.
// Invariant: of two with one identity one would be lost, or take the other's place, without a word; so both are kept out.
// A token is a secret, and told by its places alone.

/** By what something is known, among all that are of the same scope. */
interface Identity {
  /** where it stands in the seed */
  readonly at: string;
  readonly scope: readonly string[];
  readonly what: 'name' | 'username' | 'id' | 'key' | 'serial' | 'token';
  readonly value: string | number;
}

/** One line for each thing of a seed that has the identity of one before it. */
function findDuplicates(given: Seed): string[] {
  const places = new Map<string, string>();
  return identitiesOf(given).flatMap(({ at, scope, what, value }) => {
    const identity = JSON.stringify([...scope, what, value]);
    const known = places.get(identity);
    if (known === undefined) {
      places.set(identity, at);
      return [];
    }
    const told = what === 'token' ? `token of ${known}` : `${what} ${JSON.stringify(value)}`;
    return [`${at} repeats the ${told}`];
  });
}

function identitiesOf(given: Seed): Identity[] {
  const organizations = given.organizations ?? [];
  return [
    ...placed('users', given.users).map(({ at, each }) => one(at, 'username', each.username, ['users'])),
    ...placed('organizations', organizations).flatMap(({ at, each }) => ofOrganization(each, at)),
    // names of policies are kept in lower case
    ...placed('policies', given.policies).map(({ at, each }) =>
      one(at, 'name', each.name.toLowerCase(), ['policies']),
    ),
    ...tokens(given),
  ];
}

function one(at: string, what: Identity['what'], value: string | number, scope: readonly string[]): Identity {
  return { at, what, value, scope };
}

const WITH_IDS = [
  'projects',
  'agent-pools',
  'ssh-keys',
  'oauth-tokens',
  'vcs-app-installations',
  'workspaces',
] as const;

/** Names are of one organization, ids of the whole seed. */
function ofOrganization(seed: OrganizationSeed, at: string): Identity[] {
  const named = (kind: string) => [kind, seed.name];
  return [
    one(at, 'name', seed.name, ['organizations']),
    ...WITH_IDS.flatMap((kind) =>
      placed<Partial<NamedSeed>>(`${at}.${kind}`, seed[kind]).flatMap(({ at: place, each: { name, id } }) => {
        // the name of a connection is what people call it; its id is all that counts
        const isNamed = kind !== 'oauth-tokens' && kind !== 'vcs-app-installations';
        return [
          ...(isNamed && name !== undefined ? [one(place, 'name', name, named(kind))] : []),
          ...(id === undefined ? [] : [one(place, 'id', id, [kind])]),
        ];
      }),
    ),
    ...placed(`${at}.teams`, seed.teams).map((team) => one(team.at, 'name', team.each.name, named('teams'))),
    ...placed(`${at}.workspaces`, seed.workspaces).flatMap((place) => ofWorkspace(place.each, place.at)),
  ];
}

function ofWorkspace(seed: WorkspaceSeed, at: string): Identity[] {
  const listed = seed['state-versions']?.length ?? 0;
  return [
    ...placed(`${at}.vars`, seed.vars).map(({ at: place, each }) =>
      one(place, 'key', each.key, [at, each.category ?? 'engine']),
    ),
    ...stateVersionsOf(seed).map((version, index) => {
      const place = index < listed ? `state-versions[${index}]` : 'intermediate-state-version';
      return one(`${at}.${place}`, 'serial', serialAt(version, index), [at]);
    }),
    ...placed(`${at}.state-versions`, seed['state-versions']).flatMap((version) =>
      placed(`${version.at}.outputs`, version.each.outputs).map((output) =>
        one(output.at, 'name', output.each.name, [version.at]),
      ),
    ),
  ];
}

/** Of every sort: who sends a token is known by nothing else. */
function tokens(given: Seed): Identity[] {
  const organizations = placed('organizations', given.organizations);
  const holders: readonly Placed<Parameters<typeof tokensOf>[0]>[] = [
    ...placed('users', given.users),
    ...organizations,
    ...organizations.flatMap(({ at, each }) => placed(`${at}.teams`, each.teams)),
    ...placed('service-tokens', given['service-tokens']),
  ];
  const forTrails = organizations.flatMap(({ at, each }) => {
    const token = each['audit-trails-token'];
    return token === undefined ? [] : [one(`${at}.audit-trails-token`, 'token', token, ['tokens'])];
  });
  const ofHolders = holders.flatMap(({ at, each }) => {
    const first = each.token === undefined ? 0 : 1;
    return tokensOf(each).map(({ token }: TokenSeed, index) =>
      one(index < first ? at : `${at}.tokens[${index - first}]`, 'token', token, ['tokens']),
    );
  });
  return [...ofHolders, ...forTrails];
}

interface Placed<T> {
  readonly at: string;
  readonly each: T;
}

/** Each of a list with where it stands. */
function placed<T>(list: string, entries: readonly T[] | undefined): Placed<T>[] {
  return (entries ?? []).map((each, index) => ({ at: `${list}[${index}]`, each }));
}
