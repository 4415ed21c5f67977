import { describe, expect, it } from 'vitest';

import { contents, temporaryDataFile } from '../../support/server/data-file.ts';
import { identifiers, seedWith, serveForTest, workspaceBody } from '../../support/server/serve-for-test.ts';

const LIST = '/organizations/acme/workspaces';
const A = '/workspaces/ws-a';
const CONSUMERS = `${A}/relationships/remote-state-consumers`;

interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Record<string, string>;
}

const requestOf = (
  method: string,
  path: string,
  body: unknown,
  type = 'application/vnd.api+json',
): SentRequest => ({
  method,
  path,
  body,
  headers: { 'content-type': type },
});

it.each<[what: string, status: number, asked: SentRequest]>([
  ['malformed JSON', 400, requestOf('POST', LIST, '{"data":')],
  ['a body of another media type', 415, requestOf('POST', LIST, '<data/>', 'text/xml')],
  ['a body that is too large', 413, requestOf('POST', LIST, `"${'x'.repeat(17 * 1024 * 1024)}"`)],
  ['a body that is a list', 422, requestOf('POST', LIST, '[]')],
  ['a wrong type', 422, requestOf('POST', LIST, { data: { type: 'workspace', attributes: { name: 'b' } } })],
  [
    'a wrong type in an update',
    422,
    requestOf('PATCH', A, { data: { type: 'runs', attributes: { name: 'b' } } }),
  ],
  ['a wrong type in a list', 422, requestOf('POST', CONSUMERS, identifiers(['ws-b'], 'runs'))],
  ['a taken name', 422, requestOf('POST', LIST, workspaceBody({ name: 'a' }))],
  [
    'an unknown project',
    422,
    requestOf(
      'POST',
      LIST,
      workspaceBody({ name: 'c' }, { project: { data: { id: 'prj-no', type: 'projects' } } }),
    ),
  ],
  ['an unknown workspace', 404, requestOf('PATCH', '/workspaces/ws-none', workspaceBody({ name: 'c' }))],
  [
    'an unknown organization',
    404,
    requestOf('POST', '/organizations/none/workspaces', workspaceBody({ name: 'c' })),
  ],
  [
    'an unknown consumer among known ones',
    422,
    requestOf('POST', CONSUMERS, identifiers(['ws-b', 'ws-none'])),
  ],
  ['an unknown tag', 404, requestOf('DELETE', `${A}/relationships/tags`, identifiers(['tag-none'], 'tags'))],
  [
    'an unknown SSH key',
    404,
    requestOf('PATCH', `${A}/relationships/ssh-key`, {
      data: { type: 'workspaces', attributes: { id: 'sshkey-none' } },
    }),
  ],
  ['an unknown endpoint', 404, requestOf('POST', '/nowhere', workspaceBody({ name: 'c' }))],
  ['a method that the endpoint does not allow', 405, requestOf('PUT', A, workspaceBody({ name: 'c' }))],
])(
  'refuses %s with %i and an error object, and changes nothing',
  async (_what, status, { method, path, body, headers }) => {
    const data = temporaryDataFile();
    const api = await serveForTest({
      data,
      seed: seedWith({
        workspaces: [
          { name: 'a', id: 'ws-a' },
          { name: 'b', id: 'ws-b' },
        ],
      }),
    });
    const before = contents(data);
    const answer = await api.send(method, path, body, headers);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/vnd.api+json');
    expect(answer.errors.length).toBeGreaterThan(0);
    for (const error of answer.errors) {
      expect(error).toMatchObject({
        status: String(status),
        title: expect.any(String),
        detail: expect.any(String),
      });
      if (status === 422) expect(error.source?.pointer).toMatch(/^\/data/);
    }
    expect(contents(data)).toEqual(before);
  },
);

it('names the invalid query parameter', async () => {
  const api = await serveForTest();
  for (const parameter of ['sort', 'include']) {
    const answer = await api.get(`${LIST}?${parameter}=nonsense`);
    expect(answer.status).toBe(400);
    expect(answer.errors[0]?.source).toEqual({ parameter });
  }
});

const TEXTS_SEED = seedWith({
  workspaces: [
    { name: 'a', id: 'ws-a' },
    { name: 'busy', id: 'ws-busy', 'intermediate-state-version': 'pending' },
    { name: 'full', id: 'ws-full', 'resource-count': 3 },
    { name: 'run', id: 'ws-run', 'locked-by-run': 'run-7' },
  ],
});

/** Clients decide by these words which error they show, and whether they try again (wire/workspaces 1.3). */
describe('the words that clients look for', () => {
  it('are "include parameter" if an include does not exist', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    const answer = await api.get(`${A}?include=nonsense`);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('include parameter')]);
  });

  it.each([
    ['User', 'ann', 'managers'],
    ['Team', 'managers', 'ann'],
  ])('are "is locked by %s" if such a principal holds the lock', async (kind, holder, other) => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    await api.as(holder).post(`${A}/actions/lock`);
    const answer = await api.as(other).post(`${A}/actions/unlock`);
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining(`is locked by ${kind}`)]);
  });

  it('are "is locked by Run" if a run holds the lock', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    const answer = await api.post('/workspaces/ws-run/actions/unlock');
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('is locked by Run')]);
  });

  it('never contain "is locked by" when nobody holds the lock', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    for (const action of ['unlock', 'force-unlock']) {
      const answer = await api.post(`${A}/actions/${action}`);
      expect([answer.status, answer.text]).toEqual([409, expect.not.stringContaining('is locked by')]);
    }
  });

  it('are "latest state version is still pending" if an unlock has to wait', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    await api.post('/workspaces/ws-busy/actions/lock');
    const answer = await api.post('/workspaces/ws-busy/actions/unlock');
    expect([answer.status, answer.text]).toEqual([
      503,
      expect.stringContaining('latest state version is still pending'),
    ]);
  });

  it('are "being processed" if a safe delete has to wait', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    const answer = await api.post('/workspaces/ws-busy/actions/safe-delete');
    expect([answer.status, answer.text]).toEqual([409, expect.stringContaining('being processed')]);
  });

  it('are neither "locked" nor "being processed" if resources forbid a safe delete', async () => {
    const api = await serveForTest({ seed: TEXTS_SEED });
    const answer = await api.post('/workspaces/ws-full/actions/safe-delete');
    expect(answer.status).toBe(409);
    expect(answer.text).not.toMatch(/locked|being processed/);
  });
});
