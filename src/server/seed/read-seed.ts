/**
 * The shape of a seed as checks, key by key like seed.ts, and the references that shapes cannot see.
 * Invariant: what passes here can be applied; applying never fails half-way over something the file could have told.
 */
import { CAPABILITIES } from '../identity/service-policies.ts';
import { GRANTABLE_PERMISSIONS } from '../identity/workspace-permissions.ts';
import { keyProblems, valueProblems } from '../workspaces/tags/tag-bindings.ts';
import { normalTagName, TAG_NAME_RULE } from '../workspaces/tags/tag-names.ts';
import { EXECUTION_MODES } from '../workspaces/document/workspace-record.ts';
import type { OrganizationSeed, Seed } from './seed.ts';
import { type Check, count, flag, listOf, mapOf, object, oneOf, SeedError, text } from './seed-reader.ts';

const executionMode = oneOf(...EXECUTION_MODES);

const tagBindings: Check = (value, path, problems) => {
  mapOf((item, at, found) => {
    for (const detail of valueProblems(item)) found.push(`${at}: ${detail}`);
  })(value, path, problems);
  for (const key of Object.keys(Object(value))) {
    for (const detail of keyProblems(key)) problems.push(`${path}.${key}: ${detail}`);
  }
};

const tagName: Check = (value, path, problems) => {
  if (normalTagName(value) === undefined) problems.push(`${path}: ${TAG_NAME_RULE}`);
};

const workspaceName: Check = (value, path, problems) => {
  if (typeof value !== 'string' || !/^[A-Za-z0-9_-]+$/.test(value)) {
    problems.push(`${path} must be made of letters, numbers, - and _`);
  }
};

const workspaceAccess: Check = (value, path, problems) => {
  if (Array.isArray(value)) listOf(oneOf(...GRANTABLE_PERMISSIONS))(value, path, problems);
  else oneOf('read', 'plan', 'write', 'admin')(value, path, problems);
};

const named = object({ name: text, id: text }, ['name']);

const vcsConnection = object({ id: text, name: text, 'service-provider': text, 'http-url': text }, ['id']);

const project = object(
  {
    name: text,
    id: text,
    description: text,
    'default-execution-mode': executionMode,
    'default-agent-pool': text,
    'auto-destroy-activity-duration': text,
    'tag-bindings': tagBindings,
  },
  ['name'],
);

const team = object(
  {
    name: text,
    token: text,
    members: listOf(text),
    'manage-workspaces': flag,
    'read-workspaces': flag,
    'manage-projects': flag,
    'project-access': mapOf(oneOf('read', 'write', 'maintain', 'admin')),
    'workspace-access': mapOf(workspaceAccess),
  },
  ['name'],
);

const run = object(
  { status: text, id: text, 'plan-duration': count, 'apply-duration': count, 'failed-policy-check': flag },
  ['status'],
);

const workspace = object(
  {
    name: workspaceName,
    id: text,
    project: text,
    'resource-count': count,
    'intermediate-state-version': oneOf('pending', 'finalized'),
    runs: listOf(run),
    'locked-by-run': text,
    tags: listOf(tagName),
    'tag-bindings': tagBindings,
    'global-remote-state': flag,
    'source-name': text,
  },
  ['name'],
);

const organization = object(
  {
    name: text,
    email: text,
    token: text,
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
  users: listOf(object({ username: text, email: text, token: text }, ['username'])),
  mounts: listOf(text),
  policies: listOf(
    object(
      {
        name: text,
        rules: listOf(
          object({ path: text, capabilities: listOf(oneOf(...CAPABILITIES)) }, ['path', 'capabilities']),
        ),
      },
      ['name', 'rules'],
    ),
  ),
  'service-tokens': listOf(
    object({ token: text, name: text, policies: listOf(text) }, ['token', 'policies']),
  ),
});

/** Checks parsed YAML. @throws SeedError that names every problem with its path. */
export function readSeed(data: unknown): Seed {
  const problems: string[] = [];
  // An empty file parses to nothing; it seeds nothing.
  if (data === undefined || data === null) return {};
  seed(data, '', problems);
  if (problems.length === 0)
    problems.push(...danglingReferences(data as Seed), ...repeatedIdentities(data as Seed));
  if (problems.length > 0) throw new SeedError(problems);
  return data as Seed;
}

/** Names that a seed refers to and does not make. Users, projects and pools must stand in the seed itself. */
function danglingReferences(given: Seed): string[] {
  const usernames = new Set(given.users?.map((user) => user.username));
  return (given.organizations ?? []).flatMap((each, index) => {
    const at = `organizations[${index}]`;
    const members = [...(each.members ?? []), ...(each.teams ?? []).flatMap((one) => one.members ?? [])];
    return [
      ...members
        .filter((username) => !usernames.has(username))
        .map((username) => `${at} names the user "${username}", who is not among users`),
      ...danglingNames(each, at),
    ];
  });
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
    ...wantedWorkspaces
      .filter((name) => !workspaces.has(name))
      .map((name) => `${at} names the workspace "${name}", which is not among its workspaces`),
  ];
}

/** Two of a kind with one name in an organization, or with one id anywhere: one of them would silently be lost. */
function repeatedIdentities(given: Seed): string[] {
  const seen = new Set<string>();
  const kinds = [
    'projects',
    'agent-pools',
    'ssh-keys',
    'oauth-tokens',
    'vcs-app-installations',
    'workspaces',
  ] as const;
  return (given.organizations ?? []).flatMap((organization, index) =>
    kinds.flatMap((kind) =>
      (organization[kind] ?? []).flatMap((each, position) => {
        // the name of a connection is what people call it; its id is all that counts
        const isNamed = kind !== 'oauth-tokens' && kind !== 'vcs-app-installations';
        const identities = [
          ...(isNamed ? [['name', each.name, organization.name] as const] : []),
          ...(each.id === undefined ? [] : [['id', each.id, ''] as const]),
        ];
        return identities
          .filter(([key, value, scope]) => isRepeated(seen, [kind, key, value, scope]))
          .map(
            ([key, value]) => `organizations[${index}].${kind}[${position}] repeats the ${key} "${value}"`,
          );
      }),
    ),
  );
}

function isRepeated(seen: Set<string>, identity: readonly (string | undefined)[]): boolean {
  const text = JSON.stringify(identity);
  if (seen.has(text)) return true;
  seen.add(text);
  return false;
}

/** Every organization has this project; workspaces that name none are created in it. */
export const DEFAULT_PROJECT = 'Default Project';
