/**
 * The shape of a seed as checks, key by key like seed.ts, and the references that shapes cannot see.
 * Invariant: what passes here can be applied; applying never fails half-way over something the file could have told.
 */
import { givenEvent } from '../audit-trails/given-events.ts';
import { DEFAULT_PROJECT } from '../projects/project-record.ts';
import { NAME_LIMIT, TEXT_LIMIT } from '../json-api/body.ts';
import { GRANTABLE_PERMISSIONS } from '../identity/workspace-permissions.ts';
import { isExactVersion } from '../workspaces/releases/version-constraint.ts';
import { EXECUTION_MODES } from '../workspaces/document/workspace-record.ts';
import { repeatedIdentities } from './repeated-identities.ts';
import type { OrganizationSeed, Seed, WorkspaceSeed } from './seed.ts';
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
} from './seed-reader.ts';
import { mount, policy, serviceProblems, serviceToken } from './service-checks.ts';
import { tagBindings, workspace } from './workspace-checks.ts';

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
    'audit-events': listOf(givenEvent),
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
    problems.push(...danglingReferences(given), ...serviceProblems(given), ...repeatedIdentities(given));
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
