// The list of a mount's roles.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  dataOf,
  errorOf,
  type ServedMount,
  serveMount,
} from '../../support/server/cluster-auth/serve-mount.ts';

const WEB = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
});
afterAll(() => mount.close());

describe('LIST role', () => {
  it('answers 404 without an error text while there is no role', async () => {
    expect(errorOf(await mount.send('LIST', 'cluster/role'))).toEqual({ status: 404, errors: [] });
    expect(errorOf(await mount.send('GET', 'cluster/role?list=true'))).toEqual({ status: 404, errors: [] });
  });

  it('answers the names in lower case and lexicographic order, with or without a slash', async () => {
    for (const name of ['b', 'A', 'a-b', 'a_b', 'a.b', 'B2'])
      await mount.send('POST', `cluster/role/${name}`, WEB);
    const keys = ['a', 'a-b', 'a.b', 'a_b', 'b', 'b2'];
    const reply = await mount.send('LIST', 'cluster/role');
    expect(dataOf(reply)).toEqual({ keys });
    expect(dataOf(await mount.send('LIST', 'cluster/role/'))).toEqual({ keys });
    expect(dataOf(await mount.send('GET', 'cluster/role?list=true'))).toEqual({ keys });
  });

  it('answers 404 again after the last role was deleted', async () => {
    await mount.send('POST', 'team/cluster/role/last', WEB);
    expect((await mount.send('LIST', 'team/cluster/role')).status).toBe(200);
    await mount.send('DELETE', 'team/cluster/role/last');
    expect((await mount.send('LIST', 'team/cluster/role')).status).toBe(404);
  });

  it('returns hundreds of roles on one page', async () => {
    const names = Array.from({ length: 300 }, (_, index) => `role-${String(index).padStart(4, '0')}`);
    await Promise.all(names.map((name) => mount.send('POST', `team/cluster/role/${name}`, WEB)));
    expect(dataOf(await mount.send('LIST', 'team/cluster/role'))).toEqual({ keys: names });
  });
});
