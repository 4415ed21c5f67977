import { describe, expect, it } from 'vitest';

import { identifiers, seedWith, serveForTest, workspaceBody } from '../../support/server/serve-for-test.ts';

const TAGS = { data: [{ type: 'tags', attributes: { name: 'x' } }] };
const KEY = { data: { type: 'workspaces', attributes: { id: null } } };
const POLICY = { data: { type: 'data-retention-policy-dont-deletes' } };
const CONSUMERS = 'relationships/remote-state-consumers';

const OPERATIONS: readonly [method: string, below: string, body?: unknown][] = [
  ['GET', ''],
  ['PATCH', '', workspaceBody({ description: 'x' })],
  ['DELETE', ''],
  ['POST', 'actions/safe-delete'],
  ['POST', 'actions/lock', {}],
  ['POST', 'actions/unlock'],
  ['POST', 'actions/force-unlock'],
  ['PATCH', 'relationships/ssh-key', KEY],
  ['GET', CONSUMERS],
  ['PATCH', CONSUMERS, identifiers([])],
  ['POST', CONSUMERS, identifiers([])],
  ['DELETE', CONSUMERS, identifiers([])],
  ['GET', 'relationships/tags'],
  ['POST', 'relationships/tags', TAGS],
  ['DELETE', 'relationships/tags', TAGS],
  ['GET', 'tag-bindings'],
  ['GET', 'effective-tag-bindings'],
  ['GET', 'relationships/data-retention-policy'],
  ['POST', 'relationships/data-retention-policy', POLICY],
  ['DELETE', 'relationships/data-retention-policy'],
];

describe('a workspace in the path of a request', () => {
  it.each(OPERATIONS)('is answered with 404 to %s %s if it does not exist', async (method, below, body) => {
    const api = await serveForTest();
    for (const id of ['ws-none', 'nonexisting', '%00', "';--"]) {
      const answer = await api.send(method, `/workspaces/${id}/${below}`.replace(/\/$/, ''), body);
      expect(answer.status, id).toBe(404);
      expect(answer.errors[0]).toMatchObject({ status: '404', title: 'not found' });
    }
  });

  it.each(OPERATIONS)(
    'is answered with 404 to %s %s for members of another organization, like one that does not exist',
    async (method, below, body) => {
      const api = await serveForTest({ seed: seedWith({ workspaces: [{ name: 'a', id: 'ws-a' }] }) });
      const [hidden, missing] = await Promise.all(
        ['ws-a', 'ws-none'].map((id) =>
          api.as('eve').send(method, `/workspaces/${id}/${below}`.replace(/\/$/, ''), body),
        ),
      );
      expect(hidden?.status).toBe(404);
      expect(hidden?.text).toBe(missing?.text);
    },
  );

  it.each(OPERATIONS.filter(([, below]) => below === '' || below === 'actions/safe-delete'))(
    'is answered with 404 to %s %s by its name if it or its organization does not exist',
    async (method, below, body) => {
      const api = await serveForTest();
      for (const organization of ['acme', 'none']) {
        const path = `/organizations/${organization}/workspaces/none/${below}`.replace(/\/$/, '');
        expect((await api.send(method, path, body)).status, path).toBe(404);
      }
    },
  );
});
