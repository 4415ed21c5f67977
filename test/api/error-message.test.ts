// The message of a failure, from every known response format of services and of gateways before them.
import { describe, expect, it } from 'vitest';
import { errorMessage, foreignMessage, serviceWarnings } from '../../src/api/transport/read-response.ts';
import type { Json } from '../../src/model/json.ts';

const envelopes: [string, Json, string][] = [
  [
    'title and detail',
    { errors: [{ status: '409', title: 'conflict', detail: 'Workspace is locked' }] },
    'conflict: Workspace is locked',
  ],
  ['a title alone', { errors: [{ status: '404', title: 'not found' }] }, 'not found'],
  ['a title that says the same as the detail', { errors: [{ title: 'no', detail: 'no' }] }, 'no'],
  [
    'several, with the place in the document',
    {
      errors: [
        { title: 'invalid attribute', detail: 'is invalid', source: { pointer: '/data/attributes/name' } },
        { title: 'invalid attribute', detail: 'Name has already been taken' },
      ],
    },
    'invalid attribute: is invalid (/data/attributes/name); invalid attribute: Name has already been taken',
  ],
  [
    'a status that is a number',
    { errors: [{ status: 429, title: 'Too many requests', detail: 'Slow down' }] },
    'Too many requests: Slow down',
  ],
  ['nothing but a status', { errors: [{ status: 500 }] }, 'status 500'],
  [
    'texts, as older endpoints give',
    { errors: ['Name is too long', 'Name is taken'] },
    'Name is too long; Name is taken',
  ],
  ['one framed text', { errors: ['1 error occurred:\n\t* permission denied\n\n'] }, 'permission denied'],
  [
    'several framed texts',
    { errors: ['2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n'] },
    'permission denied; invalid token',
  ],
  [
    'a text that is not framed',
    { errors: ['no handler for route "auth/x/role". route entry not found.'] },
    'no handler for route "auth/x/role". route entry not found.',
  ],
  ['no errors at all', { errors: [] }, ''],
  [
    'the words of a gateway',
    { message: 'no Route matched with those values' },
    'no Route matched with those values',
  ],
  ['a bare text', 'upstream request timeout', 'upstream request timeout'],
  ['nothing', null, ''],
  ['an unknown format', { errors: [7, null, { detail: 5 }], message: { a: 1 } }, ''],
];

describe('errorMessage', () => {
  it.each(envelopes)('reads %s', (_, body, words) => {
    expect(errorMessage(body)).toBe(words);
  });

  it('is one line without control characters, with a limited length', () => {
    const words = errorMessage({ errors: [`first\nsecond\u001b[31m ${'x'.repeat(5000)}`] });
    expect(words).toMatch(/^first second \[31m x+…$/);
    expect(words.length).toBeLessThan(400);
  });
});

describe('foreignMessage', () => {
  it.each([
    [
      '<html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>',
      'a page "502 Bad Gateway"',
    ],
    ['{"data":[{"id":"e1","auth":{"descri', 'incomplete or damaged JSON'],
    ['no route to https://ann:hunter2@proxy/x', 'no route to https://***@proxy/x'],
    ['<!DOCTYPE html><style>b{}</style><h1>Blocked</h1><script>x()</script>', 'a page "Blocked"'],
    ['upstream connect error', 'upstream connect error'],
  ])('reads %s', (text, words) => {
    expect(foreignMessage(text)).toBe(words);
  });

  it('reads only the beginning of a long text, because masking megabytes blocks the run', () => {
    const long = 'a:[ '.repeat(6000);
    expect(foreignMessage(`<html><h1>Blocked</h1><script>${long}</script><title>late</title>`)).toBe(
      'a page "Blocked"',
    );
    // A secret that the limit would split is left out.
    const before = `<html><script>${' '.repeat(19_950)}</script>`;
    expect(foreignMessage(`${before}<b>Blocked</b> ${'s3cr3t'.repeat(20)}`)).toBe('a page "Blocked"');
  });
});

describe('the warnings of a successful response', () => {
  it('are one line each', () => {
    expect(serviceWarnings({ data: null, warnings: ['no audience\nis set', 'short TTL'] })).toEqual([
      'no audience is set',
      'short TTL',
    ]);
  });

  it.each([null, {}, { warnings: null }, { warnings: 'text' }])('%j has none', (body) => {
    expect(serviceWarnings(body)).toEqual([]);
  });
});
