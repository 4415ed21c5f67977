// Each mistake in a manifest of the example gives one error, at the right line, with a fix.
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { copyExample, edit } from '../../support/cli/example-copy.ts';
import { trueupProcess } from '../../support/cli/process.ts';
import { rules } from '../../support/cli/slips/rules.ts';
import { shape } from '../../support/cli/slips/shape.ts';
import { stacks } from '../../support/cli/slips/stacks.ts';
import { syntax } from '../../support/cli/slips/syntax.ts';

const slips = [...syntax, ...shape, ...rules, ...stacks];

interface Diagnostic {
  readonly code: string;
  readonly severity: string;
  readonly message: string;
  readonly place?: { readonly file: string; readonly line: number; readonly column: number };
  readonly allowed?: string;
  readonly fix?: string;
}

/** `code file:line:column`, and the fix. */
function summaryOf({ code, place, fix, allowed = '' }: Diagnostic): readonly [string, string] {
  return [`${code} ${place?.file}:${place?.line}:${place?.column}`, fix ?? allowed];
}

describe('in the quickstart example', () => {
  it.each(slips)('$slip', async ({ file, from, to, expected }) => {
    const directory = await copyExample('quickstart');
    await edit(join(directory, file), from, to);
    const { code, out } = await trueup(['validate', '--format', 'json'], { cwd: directory });
    const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(out);
    expect(diagnostics.filter(({ severity }) => severity === 'error').map(summaryOf)).toEqual(expected);
    expect(code).toBe(7);
  });

  it('nothing is wrong without a mistake', async () => {
    const { code, out, err } = await trueup(['validate'], { cwd: await copyExample('quickstart') });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^valid: stack payments, 4 files, 19 documents, \d+ resources\n$/);
  });

  it('mistakes in several files are all reported in one run, sorted', async () => {
    const directory = await copyExample('quickstart');
    const chosen = [
      'a field is misspelt',
      'a boolean is in quotes',
      'an alias has no anchor',
      'a guard is not a number',
    ];
    const some = slips.filter(({ slip }) => chosen.includes(slip));
    for (const { file, from, to } of some) await edit(join(directory, file), from, to);
    const { code, out } = await trueup(['validate', '--format', 'json'], { cwd: directory });
    expect(JSON.parse(out).diagnostics.map(summaryOf)).toEqual(
      [...some].sort((a, b) => (a.file < b.file ? -1 : 1)).flatMap(({ expected }) => expected),
    );
    expect(code).toBe(7);
  });

  it('a consumer that does not exist is found by the plan, which reads the service', async () => {
    const directory = await copyExample('quickstart');
    await edit(join(directory, 'manifests/platform.yaml'), '[observability, pay', '[observabilty, pay');
    expect((await trueup(['validate'], { cwd: directory })).code).toBe(0);
    const { code, out } = await trueup(['plan', '--format', 'json'], { cwd: directory });
    const { problems }: { problems: Diagnostic[] } = JSON.parse(out);
    expect(problems.map(summaryOf)).toEqual([
      ['unknown-reference manifests/platform.yaml:46:15', 'did you mean "observability"? Or declare it'],
    ]);
    expect(code).toBe(7);
  });

  it('neither plan nor apply continues with broken manifests', async () => {
    const directory = await copyExample('quickstart');
    await appendFile(join(directory, 'manifests/platform.yaml'), '  nothing: here\n');
    for (const command of ['plan', 'apply']) {
      const { code, out, err } = await trueup([command], { cwd: directory });
      expect({ code, out }).toEqual({ code: 7, out: '' });
      expect(err).toContain('error[unknown-field] manifests/platform.yaml:47:3');
    }
  });
});

describe('the real program reports as text that', () => {
  const reports: [string, string][] = [
    [
      'a field has the name of a real service',
      `error[unknown-field] manifests/network.yaml:10:3
  there is no field "terraformVersion" in "spec"
  10 |   terraformVersion: ~> 1.9.0
     |   ^^^^^^^^^^^^^^^^
  fix: write "engineVersion": manifests use one name for all services

1 error in 1 file
`,
    ],
    [
      'a token lives longer than it may',
      `error[ttl-over-maximum] manifests/cluster-auth.yaml:29:13
  "tokenTtl" cannot be greater than "tokenMaxTtl"
  29 |   tokenTtl: 10h
     |             ^^^
  found: 10h over 8h
  fix: lower "tokenTtl", or raise "tokenMaxTtl"
  see: "tokenMaxTtl" is set here, manifests/cluster-auth.yaml:30:16
  30 |   tokenMaxTtl: 8h
     |                ^^

1 error in 1 file
`,
    ],
    [
      'a token is written out',
      `error[literal-secret] trueup.yaml:12:7
  "spec.targets[0].token" must name the source of the secret, not hold it
  12 |       token: ***
     |       ^^^^^
  allowed: { env: … } or { file: … } or { login: … }
  fix: put it in an environment variable and write { env: NAME }; if it was ever committed, replace it

1 error in 1 file
`,
    ],
  ];

  it.each(reports)('%s', async (title, words) => {
    const found = slips.find(({ slip }) => slip === title);
    if (found === undefined) throw new Error(`no such slip: ${title}`);
    const directory = await copyExample('quickstart');
    await edit(join(directory, found.file), found.from, found.to);
    expect(await trueupProcess(['validate'], { cwd: directory })).toEqual({ code: 7, out: '', err: words });
  });
});
