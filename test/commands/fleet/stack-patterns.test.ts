// Patterns of fleet.yaml that cannot match any stack are mistakes. Patterns that may match one are valid.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import picomatch from 'picomatch';
import { describe, expect, it } from 'vitest';
import { readFleet } from '../../../src/commands/fleet/fleet-file.ts';
import { pathMistake, repositoryMistake } from '../../../src/commands/fleet/stack-patterns.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

const url = 'https://git.example.com/acme/platform.git';

async function problemsOf(lines: readonly string[]) {
  const file = join(temporaryFolder(), 'fleet.yaml');
  const head = ['apiVersion: trueup.dev/v1', 'kind: Fleet', 'metadata: { name: acme }', 'spec:'];
  writeFileSync(file, [...head, ...lines].join('\n'));
  const { fleet, diagnostics } = await readFleet(file);
  return fleet === undefined
    ? diagnostics.map(({ message, fix, place }) => ({ message, fix, at: [place?.line, place?.column] }))
    : 'valid';
}

const repositories = `  repositories: [{ name: platform, url: "${url}" }, { name: data-2, url: "${url}" }]`;
const freeze =
  '  freezes:\n    - name: weekend\n      schedule: "0 18 * * 5"\n      duration: 62h\n      stacks:';
const team =
  '  console:\n    trustedHeader: { user: X-User, groups: X-Groups, proxies: [10.0.0.1] }\n    teams:\n      ops:\n        groups: [ops]\n        stacks:';

describe.each([
  ['freeze', freeze, 11],
  ['team', team, 12],
] as const)('A pattern of a %s', (_, before, line) => {
  const column = before === freeze ? 9 : 11;
  const check = (pattern: string) =>
    problemsOf([repositories, before, `${' '.repeat(column - 3)}- "${pattern}"`]);

  it.each(['platform/**', '**', '**/prod/trueup.yaml', 'plat*/x', 'data-?/**', '*/a/*', 'data**'])(
    'can be %s',
    async (pattern) => {
      expect(await check(pattern)).toBe('valid');
    },
  );

  it.each([
    ['platfrom/prod/**', 'platform/prod/**'],
    ['Platform/**', 'platform/**'],
    ['data2/trueup.yaml', 'data-2/trueup.yaml'],
    ['plattform', 'platform/**'],
    ['networks/**', undefined],
    ['x*/**', undefined],
    ['/platform/**', undefined],
  ])('is a mistake with its place if it begins with no repository: %s', async (pattern, meant) => {
    expect(await check(pattern)).toEqual([
      {
        message: expect.stringMatching(
          /^no repository of this file has a name that matches .* matches no stack$/,
        ),
        fix: meant === undefined ? undefined : `did you mean "${meant}"?`,
        at: [line, column],
      },
    ]);
  });

  it('is a mistake if it is only the name of a repository', async () => {
    expect(await check('platform')).toMatchObject([
      { message: expect.stringMatching(/^"platform" matches no stack/), fix: 'did you mean "platform/**"?' },
    ]);
  });
});

it('A pattern of a freeze can have alternatives with a slash, which are not checked', async () => {
  const names = ['platform', 'data-2'];
  for (const pattern of ['{platform/a,other}/**', '@(data-2|x)/**', '{platform,x}/**', '[dp]*/**'])
    expect(repositoryMistake(pattern, names, 'freeze')).toBeUndefined();
  expect(repositoryMistake('{platfrom,other}/**', names, 'freeze')?.message).toMatch(
    /^no repository of this file/,
  );
  // The console takes brackets literally, and no name has them.
  expect(repositoryMistake('{platform,x}/**', names, 'team')).toBeDefined();
});

it('A pattern of a freeze that matches a stack is never a mistake', () => {
  const part = fc.constantFrom(
    'platform',
    'data-2',
    'plat',
    '*',
    '**',
    '?',
    '{platform,x}',
    '@(a|data-2)',
    '!(x)',
    '/',
    'a',
    '.',
    './',
    '[a-z]',
  );
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 5 }),
      fc.constantFrom('platform/trueup.yaml', 'platform/a/trueup.yaml', 'data-2/a/a', 'data-2/a'),
      (parts, stack) => {
        const pattern = parts.join('');
        if (picomatch(pattern, { dot: true, flags: 's' })(stack))
          expect(repositoryMistake(pattern, ['platform', 'data-2'], 'freeze')).toBeUndefined();
      },
    ),
    { numRuns: 3000 },
  );
});

it('A pattern of stack files must not begin with a slash or outside of the repository', async () => {
  const given = (more: string) => [`  repositories: [{ name: platform, url: "${url}", ${more} }]`];
  const mistake = {
    message: '"/teams/**" matches no stack file: paths begin at the root of the repository, without "/"',
    fix: 'did you mean "teams/**"?',
    at: [5, expect.any(Number)],
  };
  expect(await problemsOf(given('stacks: ["/teams/**"]'))).toEqual([mistake]);
  expect(await problemsOf(given('intervals: [{ stacks: ["/teams/**"], interval: 5m }]'))).toEqual([mistake]);
  expect(await problemsOf(given('apply: { stacks: ["a/**", "/teams/**"] }'))).toEqual([mistake]);
  expect(await problemsOf(given('stacks: ["./teams/**", ".config/**", "..a/**"]'))).toBe('valid');
  for (const pattern of ['../a', '/a', '//a', './/a', '/']) expect(pathMistake(pattern)).toBeDefined();
  for (const path of ['a', 'a/b'])
    for (const pattern of ['../a', '/a', '/**', '../**'])
      expect(picomatch(pattern, { dot: true })(path)).toBe(false);
});
