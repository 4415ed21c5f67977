/** A masked address shows no login and no parameters, in any quotation by people and programs. */
import { expect, it } from 'vitest';
import { maskUrls } from '../../src/redaction/mask-text.ts';

it.each([
  ['the text "https://u:p@h/x?token=a#b" in it?', 'the text "https://***@h/x?***" in it?'],
  ["unable to access 'https://u:pa/ss@h/x.git/': no", "unable to access 'https://***@h/x.git/': no"],
  ["access 'https://h/x.git?private_token=pw/': no", "access 'https://h/x.git?***': no"],
  ['at postgres://u:p@ss/word@h:5432/db?sslkey=k, twice', 'at postgres://***@h:5432/db?***, twice'],
  ['see "https://me:p w@h/x" or https://h/#pw.', 'see "https://***@h/x" or https://h/#***.'],
  ["access 'https://u:pa'ss@h/x/': no", "access 'https://***@h/x/': no"],
  ["access 'https://h/?key=pa'ss': no", "access 'https://h/?***': no"],
  ['ssh://u:p@h and //u@h', 'ssh://***@h and //***@h'],
])('%s', (text, masked) => {
  expect(maskUrls(text)).toBe(masked);
});

it.each(['mail ann@example.invalid', 'https://h:8200/v1/x', 'a // b', 'why? #1', 'git@h:acme/x.git'])(
  '%s is not changed',
  (text) => {
    expect(maskUrls(text)).toBe(text);
  },
);
