// A secret is found in every encoding that services, proxies and logs use, at any place in a text.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/redaction/known-secrets.ts';

const escaped = (text: string) => JSON.stringify(text).slice(1, -1);
const everyByte = (text: string) =>
  [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`);
const unicode = (text: string) =>
  Array.from(
    { length: text.length },
    (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');

/** Like encoders of HTML: of named characters only, of everything except letters and digits, or of every character. */
const named = (text: string) =>
  text.replaceAll(
    /[&<>"']/g,
    (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one] ?? '&apos;',
  );
const references = (text: string, write: (point: number) => string, which = /./gsu) =>
  text.replaceAll(which, (one) => write(one.codePointAt(0) ?? 0));
const decimal = (point: number) => `&#${point};`;
const hexadecimal = (point: number) => `&#x${point.toString(16).padStart(4, '0').toUpperCase()};`;

/** The encoding of a whole text with a secret and the text around it. */
type Encoding = (secret: string, before: string, after: string) => string;

const base64: Encoding = (secret, before, after) => Buffer.from(before + secret + after).toString('base64');
const base64url: Encoding = (...parts) =>
  base64(...parts)
    .replaceAll('+', '-')
    .replaceAll('/', '_');

const encodings: readonly [string, Encoding][] = [
  ['as it is', (secret) => secret],
  ['as a part of a URL', (secret) => encodeURIComponent(secret)],
  ['as a part of a URL, encoded again', (secret) => encodeURIComponent(encodeURIComponent(secret))],
  ['with every byte as %xx', (secret) => everyByte(secret).join('')],
  ['with every byte as %XX', (secret) => everyByte(secret).join('').toUpperCase()],
  ['as a form', (secret) => new URLSearchParams([['a', secret]]).toString().slice(2)],
  ['in JSON', escaped],
  ['in JSON, in JSON', (secret) => escaped(escaped(secret))],
  ['in JSON, in JSON, in JSON', (secret) => escaped(escaped(escaped(secret)))],
  ['in JSON with escaped slashes', (secret) => escaped(secret).replaceAll('/', '\\/')],
  ['with every character as \\uXXXX', unicode],
  ['as a part of a JSON pointer', (secret) => secret.replaceAll('~', '~0').replaceAll('/', '~1')],
  ['in HTML', named],
  ['in HTML with references for signs', (secret) => references(secret, decimal, /[^a-z0-9]/giu)],
  ['in HTML with decimal references', (secret) => references(secret, decimal)],
  ['in HTML with hexadecimal references', (secret) => references(secret, hexadecimal)],
  ['in HTML, in HTML', (secret) => named(references(secret, decimal, /[^a-z0-9]/giu))],
  ['in HTML, in JSON', (secret) => references(secret, decimal).replaceAll('&', '\\u0026')],
  ['in base64', base64],
  ['in base64 without padding', (...parts) => base64(...parts).replaceAll('=', '')],
  ['in base64 for URLs', base64url],
  ['in base64 for URLs without padding', (...parts) => base64url(...parts).replaceAll('=', '')],
  ['in base64 as a part of a URL', (...parts) => encodeURIComponent(base64(...parts))],
  ['in base64 with escaped slashes', (...parts) => base64(...parts).replaceAll('/', '\\/')],
  ['in hex', (secret, before, after) => Buffer.from(before + secret + after).toString('hex')],
  ['in hex, in capitals', (secret) => Buffer.from(secret).toString('hex').toUpperCase()],
];

/** Like secrets that are sent: without surrounding white space. */
const anySecret = fc
  .oneof(fc.string({ minLength: 8, unit: 'grapheme-ascii' }), fc.string({ minLength: 8, unit: 'grapheme' }))
  .map((text) => text.trim())
  .filter((text) => text.length >= 8);
const around = fc.string({ maxLength: 7, unit: fc.constantFrom('a', ':', '~', 'Z') });

describe('a secret is redacted', () => {
  it.each(encodings)('%s', (_, encode) => {
    fc.assert(
      fc.property(anySecret, around, around, (secret, before, after) => {
        const secrets = new KnownSecrets();
        secrets.keep(` ${secret}\n`);
        const shown = encode(secret, before, after);
        const core = encode(secret, '', '').replaceAll('=', '');
        const clean = secrets.redactPrinted(`<${shown}>`);
        expect(clean).toContain('[secret]');
        expect(clean).not.toContain(secret);
        expect(clean).not.toContain(core);
        expect(secrets.redact(`<${shown}>`)).toBe(clean);
        // The rest of a longer encoding has only the surrounding text.
        expect(clean.replace('[secret]', '').length).toBeLessThanOrEqual(
          2 + 3 * (before.length + after.length) + 4,
        );
      }),
    );
  });

  it('in a text of a larger value in the same way as in a single text', () => {
    const encoding = fc.constantFrom(...encodings.map(([, encode]) => encode));
    const others = fc.array(fc.string({ unit: fc.constantFrom('a', '\\', '%', '&', '#', '\n', '=') }));
    const beside = fc.tuple(others, others);
    fc.assert(
      fc.property(anySecret, encoding, around, beside, (secret, encode, text, [first, last]) => {
        const secrets = new KnownSecrets();
        secrets.keep(secret);
        const texts = [...first, encode(secret, text, text), ...last];
        expect(secrets.redactBody(texts)).toEqual(texts.map((each) => secrets.redact(each)));
        expect(secrets.redactKept(texts)).toEqual(texts.map((each) => secrets.redactPrinted(each)));
      }),
    );
  });

  it.each([
    ['of base64', 76, 'base64', '\n'],
    ['of base64 in PEM', 64, 'base64', '\n'],
    ['of base64 of a mail', 76, 'base64', '\r\n'],
    ['of hex', 64, 'hex', '\n'],
    ['of base64 in an indented report', 76, 'base64', '\n      + '],
    ['of base64 in JSON', 76, 'base64', '\\n'],
    ['of base64 in JSON with numbers for line breaks', 76, 'base64', '\\u000a'],
    ['of base64 in a URL', 76, 'base64', '%0D%0A'],
    ['of hex from an old system', 64, 'hex', '\r'],
  ] as const)('in wrapped lines %s', (_, width, encoding, lineBreak) => {
    const longSecret = fc.string({
      minLength: 60,
      maxLength: 900,
      unit: fc.constantFrom('a', 'B', '7', '-', '.'),
    });
    fc.assert(
      fc.property(longSecret, around, around, (secret, before, after) => {
        const secrets = new KnownSecrets();
        secrets.keep(secret);
        const encoded = Buffer.from(`${before}${secret}${after}`).toString(encoding);
        const lines = encoded.match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        const clean = secrets.redactPrinted(`<${lines.join(lineBreak)}>`);
        expect(clean).toContain('[secret]');
        expect(clean.length).toBeLessThanOrEqual(2 + 3 * (before.length + after.length) + 20);
      }),
    );
  });

  it('as it is in lines of any width, indented or quoted, also with escaped line breaks', () => {
    const lineBreak = fc.constantFrom(
      '\n',
      '\r\n',
      '\n      + ',
      '\n> ',
      '\n > > ',
      '\\n',
      '\\r\\n',
      '\\\\n\t',
      '%0D%0A',
    );
    const secretOf = (unit: string) =>
      fc.string({ minLength: 16, maxLength: 300, unit: fc.constantFrom(...unit) });
    const secretWithLines = fc.tuple(secretOf('aB7-.'), secretOf('aB7-.')).map((lines) => lines.join('\n'));
    const anyLong = fc.oneof(secretOf('aB7-.'), secretOf('nrx%"/+=&~'), secretWithLines);
    fc.assert(
      fc.property(anyLong, fc.integer({ min: 1, max: 80 }), lineBreak, (secret, width, separator) => {
        const secrets = new KnownSecrets();
        secrets.keep(secret);
        const lines = secret.replace('\n', '').match(new RegExp(`.{1,${width}}`, 'g')) ?? [];
        const text = (shown: string) => `answered 400:\n  <${shown}>,\n  and more`;
        expect(secrets.redactPrinted(text(lines.join(separator)))).toBe(text('[secret]'));
      }),
    );
  });

  it('in JSON with wrapped values, which stays valid JSON', () => {
    const secrets = new KnownSecrets();
    secrets.keep('hvs.CAESIJz0tQ7wABCDEFGH');
    const json = JSON.stringify({ a: ['hvs.CAESIJz0\ntQ7wABCDEFGH', 'x\ny'], b: 1 }, null, 2);
    expect(JSON.parse(secrets.redactPrinted(json))).toEqual({ a: ['[secret]', 'x\ny'], b: 1 });
    expect(secrets.redactBody(JSON.parse(json))).toEqual({ a: ['[secret]', 'x\ny'], b: 1 });
    expect(secrets.redact('bad token hvs.CAESIJz0\n  tQ7wABCD…')).toBe('bad token [secret]…');
  });

  it('in JSON, which stays valid JSON with the same members', () => {
    const value = fc.oneof(
      anySecret,
      fc.constantFrom('12345678', '"12345678"', '","a":1,', '\\\\\\\\\\\\\\\\'),
    );
    fc.assert(
      fc.property(value, fc.string(), fc.integer(), (secret, text, number) => {
        const secrets = new KnownSecrets();
        secrets.keep(secret);
        const json = JSON.stringify(
          { a: 1, '12345678': [number, 12345678, `${text}${secret.trim()}`, true] },
          null,
          2,
        );
        const [first, second, third, last] = Object.values(
          JSON.parse(secrets.redactPrinted(json)),
        )[0] as unknown[];
        expect([first, second, last]).toEqual([number, 12345678, true]);
        expect(third).toContain('[secret]');
        expect(String(third).replaceAll('[secret]', '')).not.toContain(secret.trim());
      }),
      { examples: [['12345678', '', 12345678]] },
    );
  });
});

describe('a text that is not a secret is kept', () => {
  it('unchanged, in text and in JSON', () => {
    const secrets = new KnownSecrets();
    secrets.keep('s3cr3t-of-acme');
    const text = 'plan%20of "acme" \\n c2VjcmV0 +a+ {"a": "\\u202e"}';
    expect(secrets.redactPrinted(text)).toBe(text);
    expect(secrets.redactPrinted('{"a": "\\u202e s3cr3t-of-acme", "b": "\\u202e"}')).toBe(
      '{"a": "\\u202e [secret]", "b": "\\u202e"}',
    );
  });

  it('if it is a secret under eight characters, except in messages of services', () => {
    const secrets = new KnownSecrets();
    secrets.keep('create');
    const text = `create ${Buffer.from('ci:create').toString('base64')}`;
    expect(secrets.redactPrinted(text)).toBe(text);
    expect(secrets.redact(text)).toMatch(/^\[secret\] \S{0,6}\[secret\]$/);
  });

  it('if two lines end and begin with the halves of a secret of one or two words', () => {
    const secrets = new KnownSecrets();
    for (const secret of ['changeme', 'production-webs', 'https://example.com']) secrets.keep(secret);
    const text = 'to change\nme, production-\nwebs, https:\n- //example.org';
    expect(secrets.redactPrinted(text)).toBe(text);
    expect(secrets.redact('to change\nme')).toBe('to change\nme');
  });

  it('if only its encoding has a secret of two letters, even in a response', () => {
    const secrets = new KnownSecrets();
    secrets.keep('ab');
    expect(secrets.redact('WFi, 6162, ab')).toBe('WFi, 6162, [secret]');
  });
});

it('two secrets that contain each other or overlap are redacted completely', () => {
  const secrets = new KnownSecrets();
  for (const secret of ['hidden-one', 'hidden-one-and-two', 'two-of-them', 'secret']) secrets.keep(secret);
  expect(secrets.redact('a hidden-one-and-two-of-them b secret')).toBe('a [secret] b [secret]');
});

describe('a stored value', () => {
  const secrets = new KnownSecrets();
  secrets.keep('s3cr3t/of~acme');
  const storedValue = {
    at: '/tags/s3cr3t~1of~0acme',
    tags: { 's3cr3t/of~acme': 1 },
    list: ['a', 's3cr3t/of~acme', null],
  };

  it('has its secrets redacted text by text, and nothing else changed', () => {
    const kept = secrets.redactKept(storedValue);
    expect(kept).toEqual({ at: '/tags/[secret]', tags: { '[secret]': 1 }, list: ['a', '[secret]', null] });
    expect(secrets.redactPrinted(JSON.stringify(kept))).toBe(JSON.stringify(kept));
    expect([secrets.isIn(storedValue), secrets.isIn(kept), secrets.isIn('s3cr3t of acme')]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('is the same object if it has no secret, and a new one once its secret is known', () => {
    const later = new KnownSecrets();
    later.keep('an0ther-s3cret');
    expect(later.redactKept(storedValue)).toBe(storedValue);
    later.keep('s3cr3t/of~acme');
    expect(later.redactKept(storedValue)).toEqual(secrets.redactKept(storedValue));
  });
});

describe('a secret of any length', () => {
  /** Random characters; some need an escape in every encoding. */
  const longSecret = fc
    .tuple(
      fc.integer({ min: 1_000, max: 40_000 }),
      fc.integer(),
      fc.constantFrom('', '"', '%', '\\', '\n', 'é', '😀'),
    )
    .map(([length, seed, special]) => {
      let state = seed >>> 0;
      let text = '';
      while (text.length < length) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        text += state.toString(36) + special;
      }
      return `s${text.slice(0, length)}e`.toWellFormed();
    });

  const isRedacted = (secret: string, encode: Encoding, before = '', after = '') => {
    const secrets = new KnownSecrets();
    secrets.keep(secret);
    const clean = secrets.redactPrinted(`<${before}${encode(secret, before, after)}${after}>`);
    // Not by `toContain`, whose message would have the text.
    return clean.includes('[secret]') && clean.length < 200;
  };

  it('is redacted in each encoding', () => {
    const encoding = fc.constantFrom(...encodings.map(([, encode]) => encode));
    fc.assert(
      fc.property(longSecret, encoding, around, around, (...drawn) => isRedacted(...drawn)),
      { numRuns: 60, endOnFailure: true },
    );
  });

  it.each(encodings.filter(([name]) => /^(as it is|in JSON|as a part of a URL|in base64)$/.test(name)))(
    'is redacted with a megabyte %s',
    (_, encode) => {
      expect(isRedacted('s"3é/cr3t'.repeat(105_000), encode)).toBe(true);
    },
  );

  it.each([
    ['repeats one character, like the text', 'a'.repeat(100_000), 'a'.repeat(250_000)],
    ['repeats one character, which the text escapes', 'a'.repeat(100_000), 'a%61\\u0061'.repeat(50_000)],
    ['repeats an escape', '%25'.repeat(50_000), `%${'25'.repeat(150_000)}${'%25'.repeat(60_000)}`],
    [
      'is wrapped after each character',
      'ab1'.repeat(40_000),
      'ab1'.repeat(40_000).replaceAll(/./g, '$&\n > '),
    ],
    ['begins with backslashes', `${'\\'.repeat(100_000)}n`, `${'\\'.repeat(250_000)}n`],
  ])('is redacted if it %s', (_, secret, text) => {
    const secrets = new KnownSecrets();
    secrets.keep(secret);
    const clean = secrets.redactPrinted(text);
    expect([clean.includes('[secret]'), clean.includes(secret)]).toEqual([true, false]);
  });

  it.each(['\\', '\n', ' \n', '\n> ', '\\r', '%0d', 'a\n'])('leaves a text of many %j alone', (part) => {
    const secrets = new KnownSecrets();
    secrets.keep('hvs.CAESIJz0tQ7wABCDEFGH');
    secrets.keep('a phrase of many words');
    const text = part.repeat(300_000);
    expect(secrets.redact(text) === text).toBe(true);
  });

  it('leaves a text alone that only begins like it', () => {
    const secrets = new KnownSecrets();
    secrets.keep(`${'a'.repeat(100_000)}b`);
    const text = 'a%61'.repeat(70_000);
    expect(secrets.redactPrinted(text) === text).toBe(true);
  });

  it('is redacted at each of two hundred thousand places', () => {
    const secrets = new KnownSecrets();
    secrets.keep('s3cr3t/of~acme');
    const text = 's3cr3t/of~acme '.repeat(200_000);
    expect(secrets.redactPrinted(text)).toBe('[secret] '.repeat(200_000));
    const encoded = `${Buffer.from('s3cr3t/of~acme').toString('hex')} `.repeat(200_000);
    expect(secrets.redact(encoded)).toBe('[secret] '.repeat(200_000));
  });

  it('is redacted within one string of many megabytes, and JSON stays JSON', () => {
    const secrets = new KnownSecrets();
    secrets.keep('s3cr3t-of-acme');
    const long = 'x "y" '.repeat(1_100_000);
    const json = JSON.stringify({ long: `${long}s3cr3t-of-acme`, b: 1 });
    const clean: { long: string; b: number } = JSON.parse(secrets.redactPrinted(json));
    expect([clean.long === `${long}[secret]`, clean.b]).toEqual([true, 1]);
  });
});

describe('the beginning of a secret', () => {
  const secrets = new KnownSecrets();
  secrets.keep('hvs.CAESIJz0tQ7w');
  secrets.keep('postgres://trueup:pw-of-the-db@db.internal/ledger');

  it.each([
    [
      'of eight characters is redacted in a returned text',
      'token hvs.CAES… is bad',
      'token [secret]… is bad',
    ],
    ['of more characters is redacted, too', '"hvs.CAESIJz0"', '"[secret]"'],
    ['is redacted with an escape or in base64, too', 'hvs%2ECAESIJ, aHZzLkNBRVNJSg==', '[secret], [secret]'],
    ['of seven characters is not redacted', 'token hvs.CAE', 'token hvs.CAE'],
    ['is not redacted if the secret is an address', 'postgres://else', 'postgres://else'],
  ])('%s', (_, text, clean) => {
    expect(secrets.redact(text)).toBe(clean);
    expect(secrets.redactBody({ errors: [text] })).toEqual({ errors: [clean] });
  });

  it('is kept in other printed and stored texts, such as names and live values', () => {
    const text = 'the role hvs.CAESIJz of acme';
    expect([secrets.redactPrinted(text), secrets.redactKept({ text }).text, secrets.isIn(text)]).toEqual([
      text,
      text,
      false,
    ]);
  });
});
