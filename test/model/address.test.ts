import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type AddressText, formatAddress, parseAddress, readAddress } from '../../src/model/address.ts';

const part = fc.stringMatching(/^[A-Za-z0-9_.-]{1,8}$/);

it('an address is parsed to what was formatted, even with slashes in its name', () => {
  const name = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
  fc.assert(
    fc.property(fc.record({ kind: part, target: part, name }), (address) => {
      expect(parseAddress(formatAddress(address))).toEqual(address);
    }),
  );
});

it.each(['', 'Parent', 'Parent/acme', '/acme/app', 'Parent//app'])('"%s" is not an address', (text) => {
  expect(() => parseAddress(text)).toThrow(`not an address: ${text}`);
  expect(() => readAddress(text)).toThrow(`not an address: ${text}`);
});

it('a text has the type of an address only after it was parsed', () => {
  const text = 'Parent/acme/app';
  // @ts-expect-error: any text could be one
  const unread: AddressText = text;
  expect(readAddress(text)).toBe(unread);
});
