// The rights of every principal at every endpoint except those of workspaces: organizations, projects, teams, runs, states and
// so on. The table is written manually from the specification (wire/workspaces 5.6, 6), and uses nothing of the product.
// The rights at endpoints of workspaces are tested in workspaces/rights-matrix.test.ts.

import { afterAll, beforeAll, expect, it } from 'vitest';

import { API_ENDPOINTS, STORED_FILES } from '../../src/server/workspaces-endpoints.ts';
import { NEIGHBOURS, type NeighbourOperation, neighbourPath } from '../support/server/rights/neighbours.ts';
import { OPERATIONS } from '../support/server/rights/operations.ts';
import { startWorld, type World } from '../support/server/rights/world.ts';
import type { TestAnswer } from '../support/server/serve-for-test.ts';

/*
 * Cells. yes: allowed. 404: as if the resource did not exist. 403: forbidden.
 * Columns. known: has a valid token. found: create organizations. belong: see what the organization shares with its members.
 * view: see the workspace, its project and its runs. read: read states, variables and assessments. queue: queue runs. write: apply
 * runs, and save states and variables. tags: change the tags of the workspace. grant: grant access to the workspace. project: change
 * the project, and grant access to it. drop-project: delete it. drop-empty: delete another project, which is empty. create: create
 * projects. organize: change all workspaces at once. administer: manage the organization and its teams, keys and connections.
 * own: delete the organization, and manage its token and the team of the owners. trail: read the audit trail, which requires a
 * token of its own. browse: read all workspaces, and what belongs to all of them. change: change the settings of the workspace.
 */
const RIGHTS = `
principal          known found belong view read queue write tags grant project drop-project drop-empty create organize administer own trail   browse   change
no-token           401   401   401    401  401  401   401   401  401   401     401          401        401    401      401        401 401   401      401
wrong-token        401   401   401    401  401  401   401   401  401   401     401          401        401    401      401        401 401   401      401
expired-token      401   401   401    401  401  401   401   401  401   401     401          401        401    401      401        401 401   401      401
stranger           yes   yes   404    404  404  404   404   404  404   404     404          404        404    404      404        404 403   404      404
rival-owner        yes   yes   404    404  404  404   404   404  404   404     404          404        404    404      404        404 403   404      404
member             yes   yes   yes    404  404  404   404   404  404   404     404          404        404    404      404        404 403   404      404
team-member        yes   yes   yes    404  404  404   404   404  404   404     404          404        404    404      404        404 403   404      404
workspace-read     yes   yes   yes    yes  yes  404   404   404  404   404     403          404        404    404      404        404 403   404      404
workspace-plan     yes   yes   yes    yes  yes  yes   404   404  404   404     403          404        404    404      404        404 403   404      404
workspace-write    yes   yes   yes    yes  yes  yes   yes   404  404   404     403          404        404    404      404        404 403   404      404
workspace-admin    yes   yes   yes    yes  yes  yes   yes   yes  yes   404     403          404        404    404      404        404 403   404      yes
can-lock           yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      404
can-unlock         yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      404
can-force-unlock   yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      404
can-manage-tags    yes   404   yes    yes  404  404   404   yes  404   404     403          404        404    404      404        404 403   404      404
can-update         yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      yes
can-destroy        yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      404
can-read-settings  yes   404   yes    yes  404  404   404   404  404   404     403          404        404    404      404        404 403   404      404
two-teams          yes   yes   yes    yes  404  404   404   yes  404   404     403          404        404    404      404        404 403   404      404
project-read       yes   yes   yes    yes  yes  404   404   404  404   404     403          404        404    404      404        404 403   404      404
project-write      yes   yes   yes    yes  yes  yes   yes   404  404   404     403          404        404    404      404        404 403   404      404
project-maintain   yes   yes   yes    yes  yes  yes   yes   yes  yes   404     403          404        404    404      404        404 403   404      yes
project-admin      yes   yes   yes    yes  yes  yes   yes   yes  yes   yes     yes          404        404    404      404        404 403   404      yes
both-projects      yes   yes   yes    yes  yes  yes   yes   yes  yes   yes     yes          404        404    404      404        404 403   404      yes
read-workspaces    yes   404   yes    yes  yes  404   404   404  404   404     403          403        404    404      404        404 403   yes      404
manage-workspaces  yes   404   yes    yes  yes  yes   yes   yes  yes   404     403          403        404    yes      404        404 403   yes      yes
manage-projects    yes   404   yes    yes  yes  yes   yes   yes  yes   yes     yes          yes        yes    404      404        404 403   yes      yes
organization       yes   404   yes    yes  yes  yes   yes   yes  yes   yes     yes          yes        yes    yes      yes        404 yes   yes      yes
owners-team        yes   404   yes    yes  yes  yes   yes   yes  yes   yes     yes          yes        yes    yes      yes        yes 403   yes      yes
owner              yes   yes   yes    yes  yes  yes   yes   yes  yes   yes     yes          yes        yes    yes      yes        yes 403   yes      yes
`;

type Row = Readonly<Record<string, string>>;

const [columns = [], ...lines] = RIGHTS.trim()
  .split('\n')
  .map((line) => line.split(/ +/));
const rows: readonly Row[] = lines.map((cells) =>
  Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? ''])),
);

const NONSENSE = { data: { type: 'nonsense', attributes: 7 } };

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const isRead = ({ endpoint }: NeighbourOperation) => endpoint.startsWith('GET ');
const describeStatus = ({ endpoint, column, of }: NeighbourOperation, status: number) =>
  `${endpoint} ${Object.values(of ?? {}).join(' ')} (${column}): ${status}`;

function ask(principal: string, operation: NeighbourOperation, body?: unknown): Promise<TestAnswer> {
  const [method = ''] = operation.endpoint.split(' ');
  const path = neighbourPath(operation, world.ids);
  return world.as(principal).send(method, path, body ?? operation.body?.(world.ids));
}

// Endpoints of a single dialect are tested in hcp-terraform.test.ts.
const served = API_ENDPOINTS.filter(({ needsOfDialect }) => needsOfDialect === undefined);

it('The tables of rights have every endpoint', () => {
  const known = new Set([...OPERATIONS, ...NEIGHBOURS].map(({ endpoint }) => endpoint));
  expect([...known].toSorted()).toEqual(served.map(({ method, path }) => `${method} ${path}`).toSorted());
  for (const { column } of NEIGHBOURS) expect(columns).toContain(column);
  for (const cells of lines) expect(cells, cells[0]).toHaveLength(columns.length);
});

it.each(rows)('$principal has exactly the rights of the table, for any body', async (row) => {
  const { principal = '' } = row;
  for (const operation of NEIGHBOURS) {
    const cell = row[operation.column];
    const version = world.version();
    const answer = await ask(principal, operation);
    const expected = cell === 'yes' ? operation.allowed : Number(cell);
    expect(describeStatus(operation, answer.status)).toBe(describeStatus(operation, expected));
    if (cell !== 'yes')
      expect(world.version(), `${describeStatus(operation, answer.status)} wrote`).toBe(version);
    if (isRead(operation)) continue;
    if (cell === 'yes') world.restore();
    const nonsense = await ask(principal, operation, NONSENSE);
    expect(nonsense.status, describeStatus(operation, nonsense.status)).toBeLessThan(500);
    if (mayNot(row, operation.endpoint)) {
      expect([nonsense.status, nonsense.text], describeStatus(operation, nonsense.status)).toEqual([
        answer.status,
        answer.text,
      ]);
    } else {
      world.restore();
    }
  }
});

/** Whether the principal may do nothing at the endpoint. A nonsense body does not show which of its operations was meant. */
function mayNot(row: Row, endpoint: string): boolean {
  return NEIGHBOURS.every((one) => one.endpoint !== endpoint || row[one.column] !== 'yes');
}

it.each(rows)('$principal sees upload links only for uploads that it may send', async (row) => {
  const { principal = '' } = row;
  const linkIn = async (path: string, name: string) => {
    const answer = await world.as(principal).get(path);
    return answer.status === 200 && answer.resource.attributes[name] !== null ? 'yes' : 'no';
  };
  const shown = [
    await linkIn('/configuration-versions/cv-awaited', 'upload-url'),
    await linkIn('/state-versions/sv-current', 'hosted-json-state-upload-url'),
  ];
  expect(shown).toEqual([row['queue'], row['write']].map((cell) => (cell === 'yes' ? 'yes' : 'no')));
});

it('refuses tokens, even an owner`s, at signed links', async () => {
  for (const { method, path } of STORED_FILES) {
    for (const { principal = '' } of rows) {
      const id = path.startsWith('/state') ? 'sv-current' : 'cv-awaited';
      const response = await fetch(`${world.url}/api/storage${path.replace(':id', id)}`, {
        method,
        headers: { authorization: `Bearer ${principal}` },
      });
      expect([method, path, principal, response.status]).toEqual([method, path, principal, 404]);
    }
  }
});
