// The audit trail of a mount: one event for each change that happened, none for what was refused or changed nothing.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { type ServedMount, serveMount } from '../../support/server/cluster-auth/serve-mount.ts';

const WEB = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
const CONFIG = {
  cluster_host: 'https://cluster.example',
  cluster_ca_cert: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n',
  token_reviewer_jwt: 'reviewer-secret',
};

let mount: ServedMount;
beforeEach(async () => {
  mount = await serveMount();
});
afterEach(() => mount.close());

const told = () =>
  mount
    .auditEvents()
    .map((event) => `${event['resource_type']} ${event['resource_action']} ${event['resource_id']}`);

describe('the audit trail', () => {
  it('tells of a created, an updated and a deleted role', async () => {
    await mount.send('POST', 'cluster/role/Web', WEB);
    await mount.send('POST', 'cluster/role/web', { token_ttl: 60 });
    await mount.send('DELETE', 'cluster/role/web');
    expect(told()).toEqual([
      'cluster_auth_role create auth/cluster/role/web',
      'cluster_auth_role update auth/cluster/role/web',
      'cluster_auth_role destroy auth/cluster/role/web',
    ]);
  });

  it('tells of a written config, and holds no value of it', async () => {
    await mount.send('POST', 'team/cluster/config', CONFIG);
    await mount.send('POST', 'team/cluster/config', CONFIG);
    expect(told()).toEqual([
      'cluster_auth_config create auth/team/cluster/config',
      'cluster_auth_config update auth/team/cluster/config',
    ]);
    expect(JSON.stringify(mount.auditEvents())).not.toContain('reviewer-secret');
  });

  it('says who did it and in which request', async () => {
    const reply = await mount.send('POST', 'cluster/role/web', WEB, { token: 'creator' });
    expect(mount.auditEvents()).toMatchObject([
      { actor_name: 'creator', actor_type: 'Client', request_id: reply.headers.get('x-request-id') },
    ]);
  });

  it('is silent about what was refused, denied, read, or not there to delete', async () => {
    await mount.send('POST', 'cluster/role/web', {});
    await mount.send('POST', 'cluster/config', {});
    await mount.send('POST', 'cluster/role/web', WEB, { token: 'reader' });
    await mount.send('GET', 'cluster/role/web');
    await mount.send('LIST', 'cluster/role');
    await mount.send('DELETE', 'cluster/role/absent');
    expect(told()).toEqual([]);
  });
});
