/**
 * Agent pools and SSH keys: records with a name in an organization.
 * Invariants: a name is unique in its organization; the value of a key is accepted and not stored, because nothing here
 * connects anywhere; the scope of a pool is stored and returned but has no effect, because no agent runs here.
 */
import { recordEvent } from '../kernel/audit-events.ts';
import type { Database } from '../kernel/database.ts';
import { pagedAnswer, pageOfRows } from '../kernel/pagination.ts';
import { newId } from '../kernel/identifiers.ts';
import { readAttributes } from '../kernel/request-body.ts';
import { conflict, invalid, type Resource, related } from '../kernel/documents.ts';
import {
  type ApiAnswer,
  type ApiRequest,
  created,
  type Endpoint,
  type Handler,
  NO_CONTENT,
  ok,
  on,
  queryText,
  recordedRead,
} from '../kernel/endpoint.ts';
import { requireOfOrganization, requireOrganization, requireOrganizationRight } from './access.ts';
import type { Services } from '../kernel/services.ts';

interface NamedRow {
  id: string;
  organization_id: string;
  organization_name: string;
  name: string;
  created_at: string;
  /** Only for agent pools. */
  organization_scoped?: number;
}

/** The differences between agent pools and SSH keys. */
interface NamedKind {
  readonly type: 'agent-pools' | 'ssh-keys';
  /** How errors name such a record. */
  readonly what: string;
  readonly table: 'agent_pools' | 'ssh_keys';
  readonly prefix: string;
  readonly paged: boolean;
  /** Whether reading them is recorded in the audit trail (wire/audit-trails 3.1). */
  readonly readsAreRecorded: boolean;
  /** The attribute that a new record must have besides its name. */
  readonly secret?: string;
  /** The attributes of its document besides name and time. */
  readonly attributes: (row: NamedRow) => Readonly<Record<string, unknown>>;
  /** SQL that finds a row if the record is used and so must not be deleted. */
  readonly inUse?: string;
}

const KINDS: readonly NamedKind[] = [
  {
    type: 'agent-pools',
    what: 'Agent pool',
    table: 'agent_pools',
    prefix: 'apool',
    paged: true,
    readsAreRecorded: false,
    attributes: (row) => ({ 'organization-scoped': row.organization_scoped === 1, 'agent-count': 0 }),
    inUse: `SELECT 1 FROM workspaces WHERE agent_pool_id = :id
      UNION SELECT 1 FROM projects WHERE default_agent_pool_id = :id
      UNION SELECT 1 FROM organizations WHERE default_agent_pool_id = :id`,
  },
  {
    type: 'ssh-keys',
    what: 'SSH key',
    table: 'ssh_keys',
    prefix: 'sshkey',
    paged: false,
    readsAreRecorded: true,
    secret: 'value',
    attributes: () => ({}),
  },
];

export const NAMED_RECORD_ENDPOINTS: readonly Endpoint[] = KINDS.flatMap((kind) => {
  const collection = `/organizations/:organization_name/${kind.type}`;
  const one = `/${kind.type}/:record_id`;
  const reading = kind.readsAreRecorded
    ? recordedRead
    : (path: string, handler: Handler) => on('GET', path, handler);
  return [
    reading(collection, (request) => list(request, kind)),
    on('POST', collection, (request) => create(request, kind)),
    reading(one, (request) => show(request, kind)),
    on('PATCH', one, (request) => update(request, kind)),
    on('DELETE', one, (request) => remove(request, kind)),
  ];
});

const COLUMNS = 'r.*, o.name AS organization_name';

/** All members of the organization may list them. `q` searches in names. SSH keys have no pages (wire/workspaces 1.2). */
function list(request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { organization } = requireOrganization(request);
  const { id: organizationId } = organization;
  if (kind.readsAreRecorded)
    recordEvent(request, eventOf(kind, 'index'), { id: organizationId, organization_id: organizationId });
  const query = {
    select: COLUMNS,
    from: `${kind.table} r JOIN organizations o ON o.id = r.organization_id
      WHERE r.organization_id = :organization AND INSTR(LOWER(r.name), LOWER(:part)) > 0`,
    order: 'r.name',
    parameters: { organization: organization.id, part: queryText(request.query, 'q') ?? '' },
  };
  const resources = (rows: NamedRow[]): Resource[] => rows.map((row) => resource(kind, row));
  if (kind.paged) return pagedAnswer<NamedRow>(request, query, resources);
  const { rows } = pageOfRows<NamedRow>(request.services.database, query, { limit: -1, offset: 0 });
  return ok({ data: resources(rows) });
}

function show(request: ApiRequest, kind: NamedKind): ApiAnswer {
  const row = requireRow(request, kind);
  if (kind.readsAreRecorded) recordEvent(request, eventOf(kind, 'show'), row);
  return ok({ data: resource(kind, row) });
}

function create(request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { id: organizationId } = requireOrganizationRight(request, 'administer');
  const id = newId(kind.prefix);
  request.services.database.insert(kind.table, {
    id,
    organization_id: organizationId,
    ...readColumns(request.services.database, request.body, { kind, organizationId }),
    created_at: request.services.now().toISOString(),
  });
  recordEvent(request, eventOf(kind, 'create'), { id, organization_id: organizationId });
  return created({ data: rowsById(request.services, kind, id).map((row) => resource(kind, row))[0] });
}

function update(request: ApiRequest, kind: NamedKind): ApiAnswer {
  const before = requireRow(request, kind, 'administer');
  const organizationId = before.organization_id;
  const columns = readColumns(request.services.database, request.body, { kind, organizationId, before });
  const changed = request.services.database.update(kind.table, before.id, columns);
  if (changed) recordEvent(request, eventOf(kind, 'update'), before);
  return ok({ data: resource(kind, { ...before, ...columns }) });
}

/** Workspaces lose a deleted key; a pool that is in use cannot be deleted. */
function remove(request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { id, organization_id: organizationId } = requireRow(request, kind, 'administer');
  if (kind.inUse !== undefined && request.services.database.get(kind.inUse, { id }) !== undefined) {
    throw conflict(`${kind.what} is in use and cannot be deleted`);
  }
  request.services.database.delete(kind.table, id);
  recordEvent(request, eventOf(kind, 'destroy'), { id, organization_id: organizationId });
  return NO_CONTENT;
}

function requireRow(request: ApiRequest, kind: NamedKind, right?: 'administer'): NamedRow {
  const [row] = rowsById(request.services, kind, request.params['record_id'] ?? '');
  return requireOfOrganization(request, row, kind.what, right);
}

function rowsById(services: Services, kind: NamedKind, id: string): NamedRow[] {
  return services.database.all<NamedRow>(
    `SELECT ${COLUMNS} FROM ${kind.table} r JOIN organizations o ON o.id = r.organization_id WHERE r.id = :id`,
    { id },
  );
}

function resource(kind: NamedKind, row: NamedRow): Resource {
  return {
    id: row.id,
    type: kind.type,
    attributes: { name: row.name, 'created-at': row.created_at, ...kind.attributes(row) },
    relationships: {
      organization: related('organizations', row.organization_name),
    },
    links: { self: `/api/v2/${kind.type}/${row.id}` },
  };
}

/** The columns after the request. @throws ApiError 422 with every problem */
function readColumns(
  database: Database,
  body: unknown,
  { kind, organizationId, before }: { kind: NamedKind; organizationId: string; before?: NamedRow },
): Pick<NamedRow, 'name' | 'organization_scoped'> {
  const { read, problems } = readAttributes(body, kind.type, before?.id);
  const name = read.name() ?? before?.name ?? '';
  if (name === '') read.refuse('name', 'Name is required');
  if (kind.secret !== undefined && before === undefined && !read.text(kind.secret)) {
    read.refuse(kind.secret, `${kind.secret} is required`);
  }
  const taken = database.get(
    `SELECT 1 FROM ${kind.table} WHERE organization_id = :organization AND name = :name AND id <> :id`,
    { organization: organizationId, name, id: before?.id ?? '' },
  );
  if (taken !== undefined) read.refuse('name', 'Name has already been taken');
  const scoped = kind.type === 'agent-pools' ? read.boolean('organization-scoped') : undefined;
  if (problems.length > 0) throw invalid(problems);
  return scoped === undefined ? { name } : { name, organization_scoped: Number(scoped) };
}

function eventOf({ type }: NamedKind, action: 'index' | 'show' | 'create' | 'update' | 'destroy') {
  return `${type.slice(0, -1).replace('-', '_')}.${action}` as const;
}
