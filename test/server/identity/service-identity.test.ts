import { expect, it, onTestFinished } from 'vitest';

import { chooseDialects } from '../../../src/server/kernel/dialects.ts';
import { Database } from '../../../src/server/kernel/database.ts';
import { authenticateServiceToken } from '../../../src/server/cluster-auth/service-identity.ts';
import { applySeed } from '../../../src/server/seed/apply-seed.ts';
import { PLAIN_GRANT, storeToken } from '../../../src/server/cluster-auth/token-record.ts';
import { createServices, type Services } from '../../../src/server/kernel/services.ts';

const NOON = new Date('2026-01-01T12:00:00Z');

function services(now = () => NOON): Services {
  const database = Database.open(':memory:');
  onTestFinished(() => database.close());
  const rules = [{ path: 'auth/k8s/*', capabilities: ['read' as const] }];
  applySeed(
    database,
    {
      policies: [{ name: 'reader', rules }],
      'service-tokens': [
        { name: 'root', token: 'root-token', policies: ['root'] },
        { name: 'reader', token: 'reader-token', policies: ['reader', 'no-such-policy'] },
      ],
    },
    NOON,
  );
  return createServices(database, { now, dialects: chooseDialects([]) });
}

it('identifies a service token by its value, with the capabilities of its policies', () => {
  const identity = authenticateServiceToken(services(), 'reader-token');
  expect(identity).toMatchObject({ displayName: 'reader', policies: ['no-such-policy', 'reader'] });
  expect(identity?.can('read', 'auth/k8s/config')).toBe(true);
  expect(identity?.can('update', 'auth/k8s/config')).toBe(false);
});

it('lets the policy root do everything', () => {
  const identity = authenticateServiceToken(services(), 'root-token');
  expect(identity?.can('sudo', 'anything')).toBe(true);
});

it.each([undefined, '', 'unknown', ['root-token']])('identifies no token by the header %j', (header) => {
  expect(authenticateServiceToken(services(), header)).toBeUndefined();
});

it('refuses a token when it has expired', () => {
  let now = NOON;
  const live = services(() => now);
  const expiresAt = new Date('2026-01-01T13:00:00Z');
  const grant = { ...PLAIN_GRANT, displayName: 'short', policies: ['root'], expiresAt };
  storeToken(live.database, 'short', grant, NOON);
  expect(authenticateServiceToken(live, 'short')?.displayName).toBe('short');
  now = expiresAt;
  expect(authenticateServiceToken(live, 'short')).toBeUndefined();
});

it('gives a token the same accessor when it is registered again', () => {
  const { database } = services();
  const grant = { ...PLAIN_GRANT, displayName: 'x', policies: [] };
  const register = () => storeToken(database, 'again', grant, NOON);
  const accessor = register();
  expect(accessor).toMatch(/^accessor-/);
  expect(register()).toBe(accessor);
});
