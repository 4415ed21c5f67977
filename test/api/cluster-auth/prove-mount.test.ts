import { afterEach, describe, expect, it } from 'vitest';
import { WireError } from '../../../src/model/http.ts';
import { askMountType, whyConfigIsNoProof } from '../../../src/api/cluster-auth-mount.ts';
import { type Canned, type Mount, openCannedMount } from '../../support/services/cluster-auth/open-mount.ts';

let mount: Mount | undefined;
afterEach(async () => {
  await mount?.close();
  mount = undefined;
});

const [first, second] = ['GET /v1/sys/auth/cluster', 'GET /v1/sys/internal/ui/mounts/auth/cluster'];

/** Answers the two requests in their order; all further requests get the last answer. */
async function answering(...answers: readonly Canned[]): Promise<Mount> {
  let asked = 0;
  mount = await openCannedMount(() => answers[Math.min(asked++, answers.length - 1)] ?? { status: 500 }, {
    showsType: false,
  });
  return mount;
}

const refused: Canned = { status: 403, body: { errors: ['permission denied'] } };
const typed = (type: unknown, more: object = {}): Canned => ({
  status: 200,
  body: { data: { type, ...more } },
});

describe('The type of a mount', () => {
  it('is requested once in a session, for all callers', async () => {
    const { session, seen } = await answering(typed('cluster'));
    const [one, other] = await Promise.all([askMountType(session), askMountType(session)]);
    expect([one, other]).toEqual([{ is: 'this' }, { is: 'this' }]);
    expect(seen).toEqual([first]);
  });

  it.each([
    ['is forbidden', refused],
    ['does not support the path', { status: 404, body: { errors: ['no handler for route'] } }],
    ['says that there is no such mount', { status: 400, body: { errors: ['No auth engine at cluster/'] } }],
    ['does not support the verb', { status: 405, body: { errors: [] } }],
    ['returns something else', { status: 200, body: { data: { accessor: 'auth_1' } } }],
    ['returns a type that is not a text', typed({ $secret: { env: 'X' } })],
  ])('is requested in a second way if the first one %s', async (_, answer) => {
    const { session, seen } = await answering(answer, typed('cluster', { path: 'cluster/' }));
    expect(await askMountType(session)).toEqual({ is: 'this' });
    expect(seen).toEqual([first, second]);
  });

  it('is unknown if neither way reports it', async () => {
    const { session } = await answering(refused, refused);
    expect(await askMountType(session)).toEqual({ is: 'unknown' });
  });

  it('is not the type of a mount above, which answers for all paths below it', async () => {
    const { session } = await answering(refused, typed('cluster', { path: 'team/' }));
    expect(await askMountType(session)).toEqual({ is: 'unknown' });
  });

  it.each([500, 502, 503, 401, 301, 307])('ends the read at once after status %i', async (status) => {
    const { session, seen } = await answering({ status, body: { errors: ['sealed'] } });
    const type = await askMountType(session);
    expect(type).toMatchObject({
      is: 'unread',
      why: expect.stringContaining('the mount "cluster" of target "prod" could not be read'),
    });
    expect(seen).toEqual([first]);
  });

  it('of another dialect is reported with the dialects that have this name', async () => {
    const { session } = await answering(typed('kubernetes'));
    expect(await askMountType(session)).toMatchObject({
      is: 'unread',
      why: expect.stringContaining(
        'correct the target\'s "dialect", which may be "vault" or "openbao", or its "mount"',
      ),
    });
  });

  it('throws without any response', async () => {
    const { session, close } = await answering(refused);
    await close();
    await expect(askMountType(session)).rejects.toThrow(WireError);
    mount = undefined;
  });
});

describe('The config of a mount of unknown type', () => {
  it.each([
    ['has a host', { status: 200, body: { data: { cluster_host: 'https://k' } } }],
    ['was never written', { status: 404, body: { errors: [] } }],
  ])('proves its type if it %s', async (_, answer) => {
    const { session } = await answering(answer);
    expect(await whyConfigIsNoProof(session)).toBeUndefined();
  });

  it.each([
    ['has no host', { status: 200, body: { data: { jwks_url: 'https://x' } } }, 'another method'],
    [
      'uses the names of another dialect',
      { status: 200, body: { data: { kubernetes_host: 'https://k' } } },
      'correct the target\'s "dialect", which may be "vault" or "openbao"',
    ],
    [
      'is not a path of it',
      { status: 404, body: { errors: ['1 error occurred:\n\t* unsupported path\n\n'] } },
      'another method',
    ],
    ['is forbidden', refused, 'could not determine whether'],
    ['is behind a proxy', { status: 404, body: { message: 'no route' } }, 'could not determine whether'],
    ['fails', { status: 500, body: { errors: ['sealed'] } }, 'could not determine whether'],
    ['holds no data', { status: 200, body: {} }, 'could not determine whether'],
  ])('proves nothing if it %s', async (_, answer, says) => {
    const { session } = await answering(answer);
    expect(await whyConfigIsNoProof(session)).toContain(says);
  });
});
