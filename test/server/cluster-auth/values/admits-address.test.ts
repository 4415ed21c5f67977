import { expect, it } from 'vitest';
import { admitsAddress } from '../../../../src/server/cluster-auth/address-blocks.ts';

it.each([
  ['127.0.0.1', '127.0.0.1', true],
  ['127.0.0.1', '127.0.0.2', false],
  ['10.0.0.5/24', '10.0.0.77', true],
  ['10.0.0.0/24', '10.0.1.1', false],
  ['0.0.0.0/0', '8.8.8.8', true],
  ['10.0.0.1:8200', '10.0.0.1', true],
  ['fd00::/8', 'fd12::1', true],
  ['::1', '::1', true],
  ['[::1]:80', '::1', true],
  ['127.0.0.0/8', '::ffff:127.0.0.1', true],
  ['::/0', '127.0.0.1', false],
  ['0.0.0.0/0', '::1', false],
  ['10.0.0.0/99', '10.0.0.1', false],
  ['"10.0.0.0/99"', '10.0.0.1', false],
  ['/var/run/socket', '10.0.0.1', false],
  ['', '10.0.0.1', false],
])('the block %j admits the address %s: %j', (block, address, admitted) => {
  expect(admitsAddress([block], address)).toBe(admitted);
});

it('does not admit an unknown address', () => {
  expect(admitsAddress(['0.0.0.0/0'], undefined)).toBe(false);
});
