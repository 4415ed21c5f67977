/**
 * Agent pools and SSH keys: records with a name in an organization.
 * Invariants: a name is unique in its organization; what a key holds is taken and not kept, because nothing here
 * connects anywhere; a pool's scope is kept and answered, and limits nothing: no agent runs here.
 */
import type { Database } from '../kernel/database.ts';
import { pagedAnswer, pageOfRows } from '../kernel/pagination.ts';
import { newId } from '../kernel/identifiers.ts';
import { MemberReader, readResource } from '../kernel/request-body.ts';
import { conflict, invalid, type PointedProblem, type Resource } from '../kernel/documents.ts';
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
  /** Of agent pools alone. */
  organization_scoped?: number;
}

/** What differs between the kinds. */
interface NamedKind {
  readonly type: 'agent-pools' | 'ssh-keys';
  readonly what: string;
  readonly table: 'agent_pools' | 'ssh_keys';
  readonly prefix: string;
  readonly paged: boolean;
  /** Whether the audit trail is told who reads them (wire/audit-trails 3.1). */
  readonly readsAreRecorded: boolean;
  /** What a new one must have beside its name. */
  readonly secret?: string;
  /** What its document says beside name and time. */
  readonly attributes: (row: NamedRow) => Readonly<Record<string, unknown>>;
  /** SQL: whether something in use would lose it without having another choice. */
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
    reading(collection, (services, request) => list(services, request, kind)),
    on('POST', collection, (services, request) => create(services, request, kind)),
    reading(one, (services, request) => show(services, request, kind)),
    on('PATCH', one, (services, request) => update(services, request, kind)),
    on('DELETE', one, (services, request) => remove(services, request, kind)),
  ];
});

const COLUMNS = 'r.*, o.name AS organization_name';

/** For whoever belongs to the organization. `q` is a part of the name. SSH keys have no pages (wire/workspaces 1.2). */
function list(services: Services, request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { organization } = requireOrganization(services, request);
  const { id: organizationId } = organization;
  if (kind.readsAreRecorded)
    recordEvent(services, request, { kind, id: organizationId, organizationId, action: 'index' });
  const query = {
    select: COLUMNS,
    from: `${kind.table} r JOIN organizations o ON o.id = r.organization_id
      WHERE r.organization_id = :organization AND INSTR(LOWER(r.name), LOWER(:part)) > 0`,
    order: 'r.name',
    parameters: { organization: organization.id, part: queryText(request.query, 'q') ?? '' },
  };
  const resources = (rows: NamedRow[]): Resource[] => rows.map((row) => resource(kind, row));
  if (kind.paged) return pagedAnswer<NamedRow>(services, request, query, resources);
  const { rows } = pageOfRows<NamedRow>(services.database, query, { limit: -1, offset: 0 });
  return ok({ data: resources(rows) });
}

function show(services: Services, request: ApiRequest, kind: NamedKind): ApiAnswer {
  const row = required(services, request, kind);
  if (kind.readsAreRecorded)
    recordEvent(services, request, { kind, id: row.id, organizationId: row.organization_id, action: 'show' });
  return ok({ data: resource(kind, row) });
}

function create(services: Services, request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { id: organizationId } = requireOrganizationRight(services, request, 'administer');
  const id = newId(kind.prefix);
  services.database.insert(kind.table, {
    id,
    organization_id: organizationId,
    ...readColumns(services.database, request.body, { kind, organizationId }),
    created_at: services.now().toISOString(),
  });
  recordEvent(services, request, { kind, id, organizationId, action: 'create' });
  return created({ data: read(services, kind, id).map((row) => resource(kind, row))[0] });
}

function update(services: Services, request: ApiRequest, kind: NamedKind): ApiAnswer {
  const before = required(services, request, kind, 'administer');
  const organizationId = before.organization_id;
  const columns = readColumns(services.database, request.body, { kind, organizationId, before });
  const changed = services.database.update(kind.table, before.id, columns);
  if (changed) recordEvent(services, request, { kind, id: before.id, organizationId, action: 'update' });
  return ok({ data: resource(kind, { ...before, ...columns }) });
}

/** A key is taken off its workspaces; a pool that is used stays: its workspaces could run nowhere. */
function remove(services: Services, request: ApiRequest, kind: NamedKind): ApiAnswer {
  const { id, organization_id: organizationId } = required(services, request, kind, 'administer');
  if (kind.inUse !== undefined && services.database.get(kind.inUse, { id }) !== undefined) {
    throw conflict(`${kind.what} is in use and cannot be deleted`);
  }
  services.database.run(`DELETE FROM ${kind.table} WHERE id = :id`, { id });
  recordEvent(services, request, { kind, id, organizationId, action: 'destroy' });
  return NO_CONTENT;
}

function required(services: Services, request: ApiRequest, kind: NamedKind, right?: 'administer'): NamedRow {
  const [row] = read(services, kind, request.params['record_id'] ?? '');
  return requireOfOrganization(request, row, kind.what, right);
}

function read(services: Services, kind: NamedKind, id: string): NamedRow[] {
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
      organization: {
        data: { id: row.organization_name, type: 'organizations' },
        links: { related: `/api/v2/organizations/${row.organization_name}` },
      },
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
  const problems: PointedProblem[] = [];
  const read = new MemberReader(
    readResource(body, kind.type, before?.id).attributes,
    '/data/attributes',
    problems,
  );
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

function recordEvent(
  services: Services,
  request: ApiRequest,
  change: {
    readonly kind: NamedKind;
    readonly id: string;
    readonly organizationId: string;
    readonly action: 'index' | 'show' | 'create' | 'update' | 'destroy';
  },
): void {
  services.recordEvent({
    organizationId: change.organizationId,
    actor: request.caller,
    requestId: request.requestId,
    resource: { id: change.id, type: change.kind.type.slice(0, -1).replace('-', '_'), action: change.action },
  });
}
