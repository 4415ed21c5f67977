/**
 * From a request to the settings that an organization shall have.
 * Invariant: nothing is written here; a refusal names every problem.
 */
import type { SqlParameters } from '../data-file/database.ts';
import type { OrganizationSetting } from '../workspaces-dialects.ts';
import { asObject, MemberReader, NAME_LIMIT, readResource } from '../json-api/body.ts';
import { invalid, type PointedProblem } from '../json-api/errors.ts';
import type { Services } from '../services.ts';
import type { OrganizationRecord } from '../workspaces/access.ts';
import { EXECUTION_MODES } from '../workspaces/document/workspace-record.ts';

const NAME = /^[A-Za-z0-9_-]+$/;

/** The columns after the request; `before` is undefined for a new organization. @throws ApiError 422 */
export function resolveOrganizationSettings(
  services: Services,
  body: unknown,
  before: OrganizationRecord | undefined,
): SqlParameters {
  const problems: PointedProblem[] = [];
  const { attributes, relationships } = readResource(body, 'organizations', before?.name);
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const flag = (name: string, current: number | undefined): number =>
    Number(read.boolean(name) ?? current === 1);
  const email = read.nullableText('email');
  const mode = read.nullableWord('default-execution-mode', EXECUTION_MODES);
  // A mode without agents that is asked for drops the pool, unless the request names one.
  const keepsPool = mode === undefined || mode === null || mode === 'agent';
  const pool = relationships['default-agent-pool'] ?? (keepsPool ? undefined : { data: null });
  const settings = {
    name: read.name() ?? before?.name ?? '',
    email: email === undefined ? (before?.email ?? null) : email,
    default_execution_mode: mode ?? before?.default_execution_mode ?? 'remote',
    default_agent_pool_id: readPool(services, pool, before, problems),
    allow_force_delete_workspaces: flag(
      'allow-force-delete-workspaces',
      before?.allow_force_delete_workspaces,
    ),
    assessments_enforced: flag('assessments-enforced', before?.assessments_enforced),
    flags: readSettings(services, read, before),
  };
  checkName(services, read, settings.name, before);
  if (settings.default_execution_mode === 'agent' && settings.default_agent_pool_id === null) {
    read.refuse('default-execution-mode', 'The execution mode "agent" needs a default agent pool');
  }
  if (problems.length > 0) throw invalid(problems);
  return settings;
}

/** The settings of the dialect that were ever set, as JSON. */
function readSettings(
  { dialects }: Services,
  read: MemberReader,
  before: OrganizationRecord | undefined,
): string {
  const set = JSON.parse(before?.flags ?? '{}') as Record<string, unknown>;
  for (const [name, { takes }] of Object.entries(dialects.workspaces.organizationSettings)) {
    const asked = readSetting(read, name, takes);
    if (asked !== undefined) set[name] = asked;
  }
  return JSON.stringify(set);
}

function readSetting(read: MemberReader, name: string, takes: OrganizationSetting['takes']): unknown {
  if (takes === undefined) return undefined;
  if (takes === 'flag') return read.boolean(name);
  if (takes === 'minutes') return read.nullableCount(name);
  return takes === 'text' ? read.nullableText(name, NAME_LIMIT) : read.nullableWord(name, takes);
}

function checkName(
  { database }: Services,
  read: MemberReader,
  name: string,
  before: OrganizationRecord | undefined,
): void {
  if (name === before?.name) return;
  if (!NAME.test(name)) read.refuse('name', 'Name must be made of letters, numbers, - and _');
  const taken = database.get('SELECT 1 FROM organizations WHERE name = :name', { name });
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
}

function readPool(
  { database }: Services,
  relationship: unknown,
  before: OrganizationRecord | undefined,
  problems: PointedProblem[],
): string | null {
  if (relationship === undefined) return before?.default_agent_pool_id ?? null;
  const data = asObject(relationship)?.['data'];
  if (data === null) return null;
  const id = asObject(data)?.['id'];
  const known = database.get('SELECT 1 FROM agent_pools WHERE id = :id AND organization_id = :organization', {
    id: typeof id === 'string' ? id : null,
    organization: before?.id ?? null,
  });
  if (known === undefined) {
    problems.push({
      detail: 'The agent pool does not exist in this organization',
      pointer: '/data/relationships/default-agent-pool/data/id',
    });
  }
  return typeof id === 'string' ? id : null;
}
