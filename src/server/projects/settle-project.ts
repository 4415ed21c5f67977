/**
 * From a request to what a project shall be.
 * Invariant: nothing is written here; a refusal names every problem.
 */
import type { Database, SqlParameters } from '../data-file/database.ts';
import { asObject, type BodyObject, MemberReader, readResource, TEXT_LIMIT } from '../json-api/body.ts';
import { invalid, type PointedProblem } from '../json-api/errors.ts';
import { EXECUTION_MODES } from '../workspaces/document/workspace-record.ts';
import { readTagBindings, type TagBinding } from '../workspaces/tags/tag-bindings.ts';
import type { ProjectRow } from './project-record.ts';

const DURATION = /^[1-9]\d{0,3}[dh]$/;

interface ProjectContext {
  readonly organizationId: string;
  /** What a name looks like; undefined where any text is one. */
  readonly names: RegExp | undefined;
  /** undefined for a new project. */
  readonly before?: ProjectRow;
}

interface ProjectSettings {
  readonly columns: SqlParameters;
  /** undefined: they stay as they are. */
  readonly tagBindings: readonly TagBinding[] | undefined;
}

/** @throws ApiError 422 */
export function resolveProjectSettings(
  database: Database,
  body: unknown,
  context: ProjectContext,
): ProjectSettings {
  const problems: PointedProblem[] = [];
  const { attributes, relationships } = readResource(body, 'projects', context.before?.id);
  const read = new MemberReader(attributes, '/data/attributes', problems);
  const { before } = context;
  const keep = <T>(value: T | undefined, current: T | undefined): T | null =>
    value === undefined ? (current ?? null) : value;
  const duration = read.nullableText('auto-destroy-activity-duration');
  if (typeof duration === 'string' && !DURATION.test(duration)) {
    read.refuse(
      'auto-destroy-activity-duration',
      'auto-destroy-activity-duration must be a number of 1 to 9999 followed by d or h',
    );
  }
  const columns = {
    name: read.name() ?? before?.name ?? '',
    description: keep(read.nullableText('description', TEXT_LIMIT), before?.description),
    auto_destroy_activity_duration: keep(duration, before?.auto_destroy_activity_duration),
    ...readDefaults(database, read, { attributes, relationships }, { context, problems }),
  };
  checkName(database, read, columns.name, context);
  const tagBindings = readTagBindings(relationships['tag-bindings'], problems);
  if (problems.length > 0) throw invalid(problems);
  return { columns, tagBindings };
}

/** What the project's workspaces inherit. An overwrite that is false drops the project's own value. */
function readDefaults(
  database: Database,
  read: MemberReader,
  { attributes, relationships }: { readonly attributes: BodyObject; readonly relationships: BodyObject },
  { context, problems }: { readonly context: ProjectContext; readonly problems: PointedProblem[] },
) {
  const overwrites = asObject(attributes['setting-overwrites']);
  const asked = read.nullableWord('default-execution-mode', EXECUTION_MODES);
  const mode = asked === undefined ? (context.before?.default_execution_mode ?? null) : asked;
  const pool = askedPool(read, relationships['default-agent-pool']);
  // A mode without agents that is asked for drops the pool, unless the request names one.
  const keepsPool = asked === undefined || asked === null || asked === 'agent';
  const kept = keepsPool ? (context.before?.default_agent_pool_id ?? null) : null;
  if (pool !== undefined && pool.id !== null && !isPoolOf(database, context.organizationId, pool.id)) {
    problems.push({ detail: 'The agent pool does not exist in this organization', pointer: pool.pointer });
  }
  const settled = {
    default_execution_mode: overwrites?.['default-execution-mode'] === false ? null : mode,
    default_agent_pool_id:
      overwrites?.['default-agent-pool'] === false ? null : pool === undefined ? kept : pool.id,
  };
  if (settled.default_execution_mode === 'agent' && settled.default_agent_pool_id === null) {
    read.refuse('default-execution-mode', 'The execution mode "agent" needs a default agent pool');
  }
  return settled;
}

/** The pool that a request names, by the relationship or by an attribute, whose empty text means none; undefined where it names none. */
function askedPool(
  read: MemberReader,
  relationship: unknown,
): { readonly id: string | null; readonly pointer: string } | undefined {
  if (relationship !== undefined) {
    const data = asObject(relationship)?.['data'];
    const id = asObject(data)?.['id'];
    const pointer = '/data/relationships/default-agent-pool/data/id';
    return { id: data === null ? null : typeof id === 'string' ? id : '', pointer };
  }
  const id = read.nullableText('default-agent-pool-id');
  return id === undefined ? undefined : { id: id || null, pointer: '/data/attributes/default-agent-pool-id' };
}

function isPoolOf(database: Database, organization: string, id: string): boolean {
  const parameters = { id, organization };
  return (
    database.get(
      'SELECT 1 FROM agent_pools WHERE id = :id AND organization_id = :organization',
      parameters,
    ) !== undefined
  );
}

function checkName(
  database: Database,
  read: MemberReader,
  name: string,
  { organizationId, before, names }: ProjectContext,
): void {
  if (name === '') read.refuse('name', 'Name is required');
  if (name === '' || name === before?.name) return;
  if (names !== undefined && !names.test(name))
    read.refuse('name', 'Name can only include letters, numbers, spaces, -, and _, and no space at its ends');
  const taken = database.get(
    'SELECT 1 FROM projects WHERE organization_id = :organization AND name = :name',
    {
      organization: organizationId,
      name,
    },
  );
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
}
