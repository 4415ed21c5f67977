import { expect, it } from 'vitest';
import { formatIdentity, identityOf } from '../../src/model/stack.ts';

const workspaces = { service: 'workspaces', url: 'https://app.example.com', organization: 'acme' } as const;
const mount = { service: 'cluster-auth', url: 'https://secrets.example.com:8200', mount: 'cluster' } as const;
const textOf = (target: Parameters<typeof identityOf>[0]) => formatIdentity(identityOf(target));

it('a target is identified by its service, its place and its address', () => {
  expect(textOf(workspaces)).toBe('workspaces acme at https://app.example.com');
  expect(textOf(mount)).toBe('cluster-auth auth/cluster at https://secrets.example.com:8200');
});

it.each([
  ['https://APP.example.com'],
  ['https://app.example.com:443'],
  ['https://app.example.com/'],
  ['https://app.example.com.'],
  ['HTTPS://app.example.com//'],
])('%s is the same address', (url) => {
  expect(textOf({ ...workspaces, url })).toBe(textOf(workspaces));
});

it.each([
  ['http://app.example.com'],
  ['https://app.example.com:8443'],
  ['https://app.example.com/team'],
  ['https://other.example.com'],
  ['embedded'],
])('%s is another address', (url) => {
  expect(textOf({ ...workspaces, url })).not.toBe(textOf(workspaces));
});

it('the name of an organization ignores case, a mount does not', () => {
  expect(textOf({ ...workspaces, organization: 'Acme' })).toBe(textOf(workspaces));
  expect(textOf({ ...mount, mount: 'Cluster' })).not.toBe(textOf(mount));
});

it('namespace and mount form one path', () => {
  expect(textOf({ ...mount, namespace: 'team/dev' })).toBe(
    'cluster-auth team/dev/auth/cluster at https://secrets.example.com:8200',
  );
  expect(textOf({ ...mount, namespace: '/team/dev/' })).toBe(textOf({ ...mount, namespace: 'team/dev' }));
  expect(textOf({ ...mount, namespace: 'root' })).toBe(textOf(mount));
  expect(textOf({ ...mount, mount: 'team/auth/cluster' })).not.toBe(textOf({ ...mount, namespace: 'team' }));
});

it('the embedded service is the same on any port', () => {
  expect(textOf({ ...workspaces, url: 'embedded' })).toBe('workspaces acme at embedded');
});
