// The rights of every principal at every endpoint of the workspaces API. The table is written manually from the specification
// (wire/workspaces 5.6), and uses nothing of the product.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type RunningServer, startServer } from '../../../src/server/start-server.ts';
import { WORKSPACE_ENDPOINTS } from '../../../src/server/workspaces-endpoints.ts';
import {
  type Operation,
  OPERATIONS,
  pathOf,
  RETENTION_POLICY,
} from '../../support/server/rights/operations.ts';
import { PROJECT, principalsSeed, tokenOf } from '../../support/server/rights/principals.ts';
import { type TestAnswer, TestClient } from '../../support/server/serve-for-test.ts';

/*
 * Cells. yes: allowed. 404: as if the resource did not exist. 403: forbidden.
 * Columns. belong: list workspaces, show the organization. sees: which workspaces a list shows. view: every read of a workspace.
 * create: in the default project. create-in: in the project of these workspaces. move: to another project.
 * change: change settings, SSH key and retention, add and remove consumers. replace: replace all consumers.
 * force-if: force delete if the organization allows it to workspace admins.
 */
const RIGHTS = `
principal          account belong sees view create create-in change move tags lock unlock force-unlock safe-delete force-delete force-if replace
no-token           401     401    -    401  401    401       401    401  401  401  401    401          401         401          401      401
wrong-token        401     401    -    401  401    401       401    401  401  401  401    401          401         401          401      401
expired-token      401     401    -    401  401    401       401    401  401  401  401    401          401         401          401      401
stranger           yes     404    -    404  404    404       404    404  404  404  404    404          404         404          404      404
rival-owner        yes     404    -    404  404    404       404    404  404  404  404    404          404         404          404      404
member             yes     yes    none 404  404    404       404    404  404  404  404    404          404         404          404      404
team-member        yes     yes    none 404  404    404       404    404  404  404  404    404          404         404          404      404
workspace-read     yes     yes    own  yes  404    404       404    404  404  404  404    404          404         403          403      404
workspace-plan     yes     yes    own  yes  404    404       404    404  404  404  404    404          404         403          403      404
workspace-write    yes     yes    own  yes  404    404       404    404  404  yes  yes    404          404         403          403      404
workspace-admin    yes     yes    own  yes  404    404       yes    404  yes  yes  yes    yes          yes         403          yes      404
can-lock           yes     yes    own  yes  404    404       404    404  404  yes  404    404          404         403          403      404
can-unlock         yes     yes    own  yes  404    404       404    404  404  404  yes    404          404         403          403      404
can-force-unlock   yes     yes    own  yes  404    404       404    404  404  404  404    yes          404         403          403      404
can-manage-tags    yes     yes    own  yes  404    404       404    404  yes  404  404    404          404         403          403      404
can-update         yes     yes    own  yes  404    404       yes    404  404  404  404    404          404         403          yes      404
can-destroy        yes     yes    own  yes  404    404       404    404  404  404  404    404          yes         403          403      404
can-read-settings  yes     yes    own  yes  404    404       404    404  404  404  404    404          404         403          403      404
two-teams          yes     yes    own  yes  404    404       404    404  yes  yes  404    404          404         403          403      404
project-read       yes     yes    all  yes  404    404       404    404  404  404  404    404          404         403          403      404
project-write      yes     yes    all  yes  404    404       404    404  404  yes  yes    404          404         403          403      404
project-maintain   yes     yes    all  yes  404    yes       yes    404  yes  yes  yes    yes          yes         403          yes      404
project-admin      yes     yes    all  yes  404    yes       yes    404  yes  yes  yes    yes          yes         403          yes      404
both-projects      yes     yes    all  yes  404    yes       yes    yes  yes  yes  yes    yes          yes         403          yes      404
read-workspaces    yes     yes    all  yes  404    404       404    404  404  404  404    404          404         403          403      404
manage-workspaces  yes     yes    all  yes  yes    yes       yes    404  yes  yes  yes    yes          yes         403          yes      yes
manage-projects    yes     yes    all  yes  yes    yes       yes    yes  yes  yes  yes    yes          yes         403          yes      404
organization       404     yes    all  yes  yes    yes       yes    yes  yes  yes  yes    yes          yes         403          yes      yes
owners-team        yes     yes    all  yes  yes    yes       yes    yes  yes  yes  yes    yes          yes         yes          yes      yes
owner              yes     yes    all  yes  yes    yes       yes    yes  yes  yes  yes    yes          yes         yes          yes      yes
`;

type Row = Readonly<Record<string, string>>;

const [columns = [], ...lines] = RIGHTS.trim()
  .split('\n')
  .map((line) => line.split(/ +/));
const rows: readonly Row[] = lines.map((cells) =>
  Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
);
const principals = rows.map((row) => row['principal'] ?? '');

/** A workspace for each operation, so that no answer depends on what was done before. */
function workspaceOf(principal: string, operation: Operation): string {
  return `${principal}-${OPERATIONS.indexOf(operation)}`;
}

function seedFor(allowForceDelete: boolean) {
  const workspacesOf = (principal: string) =>
    OPERATIONS.map((operation) => {
      const name = workspaceOf(principal, operation);
      const lock = operation.needsLock ? { 'locked-by-run': `run-${name}` } : {};
      return { name, id: `ws-${name}`, project: PROJECT, ...lock };
    });
  return principalsSeed(principals, workspacesOf, {
    'allow-force-delete-workspaces': allowForceDelete,
    'data-retention-policy': { 'delete-older-than-n-days': 30 },
  });
}

/** A service with all principals and their workspaces. */
function useService(allowForceDelete: boolean) {
  let server: RunningServer;
  beforeAll(async () => {
    server = await startServer({ data: ':memory:', seed: seedFor(allowForceDelete), relaxed: true });
  });
  afterAll(() => server.close());
  return (principal: string) => new TestClient(server.url, tokenOf(principal));
}

const NONSENSE = ['null', { data: { type: 'nonsense', attributes: 7 } }];

function ask(api: TestClient, principal: string, operation: Operation, body?: unknown): Promise<TestAnswer> {
  const name = workspaceOf(principal, operation);
  const consumer = `ws-${principal}-${OPERATIONS.findIndex(({ column }) => column === 'view')}`;
  const [method = ''] = operation.endpoint.split(' ');
  return api.send(method, pathOf(operation, name), body ?? operation.body?.(name, consumer));
}

function expectedStatus(row: Row, { column, allowed }: Operation): number {
  const cell = row[column];
  return cell === 'yes' ? allowed : Number(cell);
}

const describeStatus = (operation: Operation, status: number) =>
  `${operation.endpoint} (${operation.column}): ${status}`;

it('The table of rights has every endpoint of the workspaces API', () => {
  const known = new Set(OPERATIONS.map(({ endpoint }) => endpoint));
  // The only endpoint here that is not of workspaces; the others are in ../rights-of-neighbours.test.ts.
  const organization = 'GET /organizations/:organization_name';
  expect([...known].toSorted()).toEqual(
    [organization, ...WORKSPACE_ENDPOINTS.map(({ method, path }) => `${method} ${path}`)].toSorted(),
  );
  for (const { column } of OPERATIONS) expect(columns).toContain(column);
  for (const cells of lines) expect(cells, cells[0]).toHaveLength(columns.length);
});

describe('What each principal may do', () => {
  const as = useService(false);

  it.each(rows)('$principal', async (row) => {
    const { principal = '' } = row;
    const [api, owner] = [as(principal), as('owner')];
    const mine = () =>
      owner.get(`/organizations/acme/workspaces?search[wildcard-name]=${principal}-*&page[size]=100`);
    for (const operation of OPERATIONS.filter(({ needsRetention }) => needsRetention)) {
      const path = `/workspaces/ws-${workspaceOf(principal, operation)}/relationships/data-retention-policy`;
      expect((await owner.post(path, RETENTION_POLICY)).status).toBe(200);
    }

    const before = await mine();
    const refusals = OPERATIONS.filter(({ column }) => row[column] !== 'yes');
    for (const operation of refusals) {
      const answer = await ask(api, principal, operation);
      expect(describeStatus(operation, answer.status)).toBe(
        describeStatus(operation, expectedStatus(row, operation)),
      );
      const isForbidden = OPERATIONS.every(
        ({ endpoint, column }) => endpoint !== operation.endpoint || row[column] !== 'yes',
      );
      if (operation.endpoint.startsWith('GET') || !isForbidden) continue;
      for (const body of NONSENSE) {
        const nonsense = await ask(api, principal, operation, body);
        expect([nonsense.status, nonsense.text], describeStatus(operation, nonsense.status)).toEqual([
          answer.status,
          answer.text,
        ]);
      }
    }
    expect((await mine()).text, 'after all that was refused').toBe(before.text);

    for (const operation of OPERATIONS.filter((one) => !refusals.includes(one))) {
      const { status } = await ask(api, principal, operation);
      expect(describeStatus(operation, status)).toBe(describeStatus(operation, operation.allowed));
    }
  });
});

describe('What each principal may do if the organization lets workspace admins force a delete', () => {
  const as = useService(true);

  it.each(rows)('$principal', async (row) => {
    const { principal = '' } = row;
    for (const operation of OPERATIONS.filter(({ column }) => column === 'force-delete')) {
      const { status } = await ask(as(principal), principal, operation);
      const expected = row['force-if'] === 'yes' ? operation.allowed : Number(row['force-if']);
      expect(describeStatus(operation, status)).toBe(describeStatus(operation, expected));
    }
  });
});

describe('The list shows', () => {
  const as = useService(false);
  const totals: Readonly<Record<string, number>> = {
    all: principals.length * OPERATIONS.length,
    own: OPERATIONS.length,
    none: 0,
  };

  it.each(rows.filter(({ sees }) => sees !== '-'))(
    '$principal: $sees',
    async ({ principal = '', sees = '' }) => {
      const { document } = await as(principal).get('/organizations/acme/workspaces');
      expect(document.meta?.pagination['total-count']).toBe(totals[sees]);
    },
  );
});
