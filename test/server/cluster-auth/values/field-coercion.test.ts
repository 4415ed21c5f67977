// What a client may send for each kind of field, and what it reads back. Comparisons of fields must agree with these tables.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import {
  dataOf,
  errorOf,
  type ServedMount,
  serveMount,
} from '../../../support/server/cluster-auth/serve-mount.ts';

let mount: ServedMount;
beforeAll(async () => {
  mount = await serveMount();
  await mount.send('POST', 'cluster/role/tried', {
    bound_service_account_names: 'web',
    bound_service_account_namespaces: 'shop',
  });
});
afterAll(() => mount.close());

/** What a field reads back after it was sent; for a refusal, the text. */
async function roundTrip(field: string, sent: unknown): Promise<unknown> {
  const written = await mount.send('POST', 'cluster/role/tried', { [field]: sent });
  if (written.status === 400) return errorOf(written).errors[0];
  expect([200, 204]).toContain(written.status);
  return dataOf(await mount.send('GET', 'cluster/role/tried'))[field];
}

const refused = (field: string) =>
  expect.stringMatching(new RegExp(`^error converting input for field "${field}": `));

describe('lists', () => {
  it.each([
    ['text split at commas, each trimmed', ' b, a ,a', ['b', 'a', 'a']],
    ['empty elements kept', 'a,,b', ['a', '', 'b']],
    ['an array in its order with duplicates', ['b', ' a ', 'b'], ['b', 'a', 'b']],
    ['no split inside an array', ['a,b'], ['a,b']],
    ['a number as one text', 7, ['7']],
    ['numbers and booleans in an array', [1, true, null], ['1', '1', '']],
    ['empty text', '', []],
    ['null', null, []],
    ['an empty array', [], []],
  ])('read %s', async (_what, sent, readBack) => {
    expect(await roundTrip('token_policies', sent)).toEqual(readBack);
  });

  it('refuse objects and arrays in arrays', async () => {
    expect(await roundTrip('token_policies', { a: 1 })).toEqual(refused('token_policies'));
    expect(await roundTrip('token_policies', [['a']])).toEqual(refused('token_policies'));
  });
});

describe('durations', () => {
  it.each([
    ['an integer', 90, 90],
    ['a numeric text', '90', 90],
    ['a Go duration', '1h30m', 5400],
    ['a fraction of an hour', '1.5h', 5400],
    ['a fraction that floating point would lose', '4.35m', 261],
    ['minutes over an hour', '90m', 5400],
    ['days', '7d', 604_800],
    ['milliseconds cut to seconds', '500ms', 0],
    ['a second and a half cut to one', '1500ms', 1],
    ['empty text', '', 0],
    ['zero', 0, 0],
    ['microseconds in either letter', '2000000μs1000000µs', 3],
    ['no whole part', '.5h', 1800],
    ['no fraction after the point', '1.h', 3600],
    ['a sign', '+1m', 60],
    ['a unit twice', '1h1h', 7200],
    ['the largest one', '2562047h47m16s', 9_223_372_036],
    ['the largest one in whole seconds', '9223372036', 9_223_372_036],
    ['the largest one in whole days', '106751d', 9_223_286_400],
  ])('read %s', async (_what, sent, readBack) => {
    expect(await roundTrip('token_explicit_max_ttl', sent)).toBe(readBack);
  });

  it('treat null as not sent', async () => {
    await roundTrip('token_explicit_max_ttl', 60);
    expect(await roundTrip('token_explicit_max_ttl', null)).toBe(60);
  });

  it.each([
    '1w',
    '1.5',
    '1.5d',
    'soon',
    '1h 30m',
    ' 5m',
    'd',
    '0x10',
    '2562048h',
    // More nanoseconds than fit into 64 bits: none of these becomes another, shorter duration.
    '9223372037',
    99_999_999_999,
    '99999999999',
    '106752d',
    '99999999999999d',
    '1h-1m',
    1.5,
    true,
    [],
    {},
  ])('refuse %j', async (sent) => {
    expect(await roundTrip('token_explicit_max_ttl', sent)).toEqual(refused('token_explicit_max_ttl'));
  });

  it('refuse negative values with the number', async () => {
    for (const sent of [-5, '-5', '-5s']) {
      expect(await roundTrip('token_ttl', sent)).toBe(
        `error converting input for field "token_ttl": cannot provide negative value '-5'`,
      );
    }
  });
});

describe('integers', () => {
  it.each([
    [3, 3],
    ['3', 3],
    ['', 0],
    [null, 0],
    [true, 1],
    ['0x10', 16],
    ['017', 15],
    ['0b101', 5],
    ['1_000', 1000],
  ])('read %j', async (sent, readBack) => {
    expect(await roundTrip('token_num_uses', sent)).toBe(readBack);
  });

  it.each(['three', 1.5, '1.5', [], {}])('refuse %j', async (sent) => {
    expect(await roundTrip('token_num_uses', sent)).toEqual(refused('token_num_uses'));
  });
});

describe('booleans', () => {
  it.each([true, '1', 't', 'T', 'TRUE', 'true', 'True', 1])('read %j as true', async (sent) => {
    expect(await roundTrip('token_no_default_policy', sent)).toBe(true);
  });

  it.each([false, '0', 'f', 'F', 'FALSE', 'false', 'False', 0, '', null])(
    'read %j as false',
    async (sent) => {
      expect(await roundTrip('token_no_default_policy', sent)).toBe(false);
    },
  );

  it.each(['yes', 'on', 2, [], {}])('refuse %j', async (sent) => {
    expect(await roundTrip('token_no_default_policy', sent)).toEqual(refused('token_no_default_policy'));
  });
});

describe('texts', () => {
  it.each([
    ['untrimmed', ' a ', ' a '],
    ['a number', 12, '12'],
    ['true', true, '1'],
    ['false', false, '0'],
    ['null as empty, which a read leaves out', null, undefined],
  ])('read %s', async (_what, sent, readBack) => {
    expect(await roundTrip('audience', sent)).toBe(readBack);
  });

  it('refuse arrays and objects', async () => {
    expect(await roundTrip('audience', ['a'])).toEqual(refused('audience'));
    expect(await roundTrip('audience', { a: 1 })).toEqual(refused('audience'));
  });
});

describe('CIDR blocks', () => {
  it.each([
    ['a single address', '1.2.3.4', '1.2.3.4'],
    ['a block of one address without its prefix', '1.2.3.4/32', '1.2.3.4'],
    ['a block of one IPv6 address without its prefix', '2001:DB8:0:0::1/128', '2001:db8::1'],
    ['host bits kept', '192.168.215.230/24', '192.168.215.230/24'],
    ['an IPv6 block with its host bits', '2001:db8::1/64', '2001:db8::1/64'],
    ['an IPv4 block mapped to IPv6', '::ffff:10.1.2.3/104', '10.1.2.3/8'],
    ['an address with a port', '10.0.0.1:8200', '10.0.0.1:8200'],
    ['an IPv6 address with a port', '[2001:DB8::1]:8200', '[2001:db8::1]:8200'],
    ['everything', '0.0.0.0/0', '0.0.0.0/0'],
    ['a shorter prefix of an IPv4 block mapped to IPv6', '::ffff:10.0.0.0/90', '10.0.0.0'],
    [
      'a prefix of an IPv4 block mapped to IPv6 that is shorter than the mapping',
      '::ffff:10.0.0.0/20',
      '10.0.0.0/20',
    ],
    ['an IPv4 address with the mask of some clients', '10.0.0.1/00ffffff', '10.0.0.1'],
    ['an address with an empty port', '10.0.0.1:', '10.0.0.1'],
    ['an address in brackets', '[2001:DB8::1]', '2001:db8::1'],
    ['an address in a zone with a port', '[fe80::1%eth0]:80', '[fe80::1]:80'],
    ['a prefix with leading zeros', '10.0.0.0/08', '10.0.0.0/8'],
  ])('read %s', async (_what, sent, readBack) => {
    expect(await roundTrip('token_bound_cidrs', [sent])).toEqual([readBack]);
    expect(await roundTrip('token_bound_cidrs', readBack)).toEqual([readBack]);
  });

  it.each([
    ['a wrong prefix', '10.0.0.0/99'],
    ['a path', '/run/agent.sock'],
    ['an address in a zone with a prefix', 'fe80::1%eth0/64'],
  ])('treat %s as the path of a socket, with more quotes at each read', async (_what, sent) => {
    const twice = JSON.stringify(JSON.stringify(sent));
    expect(await roundTrip('token_bound_cidrs', [sent])).toEqual([twice]);
    expect(await roundTrip('audience', 'other')).toBe('other');
    const read = dataOf(await mount.send('GET', 'cluster/role/tried'));
    expect(read['token_bound_cidrs']).toEqual([JSON.stringify(twice)]);
    await roundTrip('token_bound_cidrs', []);
  });

  it('cannot be read again after a path without a slash was written', async () => {
    const role = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
    await mount.send('POST', 'cluster/role/lost', { ...role, token_bound_cidrs: '.socket' });
    expect(errorOf(await mount.send('GET', 'cluster/role/lost'))).toEqual({
      status: 500,
      errors: [
        String.raw`1 error occurred:@	* Unable to convert "\".socket\"" to an IPv4 or IPv6 address, or a UNIX Socket@@`.replaceAll(
          '@',
          '\n',
        ),
      ],
    });
    expect((await mount.send('POST', 'cluster/role/lost', role)).status).toBe(500);
    expect((await mount.send('DELETE', 'cluster/role/lost')).status).toBe(204);
  });

  it.each(['nowhere', '10.0.0', '300.1.1.1', '', 'host:80', '::1%lo', '10.0.0.1:70000', ':80'])(
    'refuse %j',
    async (sent) => {
      expect(await roundTrip('token_bound_cidrs', [sent])).toMatch(
        new RegExp(`^error parsing address ${JSON.stringify(sent)}: `),
      );
    },
  );
});
