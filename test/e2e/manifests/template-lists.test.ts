/** Lists of templates: their files are manifests, with the same rules, and nothing secret in them is shown. */
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openCiScene } from '../../support/cli/ci-scene.ts';
import { all, declared, places, problems, stackWith, template } from '../../support/cli/template-stack.ts';
import { git } from '../../support/ledger/git-remote.ts';
import { temporaryFolder } from '../../support/rig/temporary-folder.ts';

describe('The list of a template', () => {
  it('may be empty if it is optional, and then the template makes no resource', async () => {
    const stack = await stackWith({
      [all]: template('{ file: ../l.yaml, optional: true }'),
      'l.yaml': '[]\n',
    });
    expect((await stack.plan()).changes).toEqual([]);
  });

  it('is not read as a manifest, even if a pattern matches its file', async () => {
    const stack = await stackWith({
      [all]: template('{ file: services.yaml }'),
      'manifests/services.yaml': '- a\n',
    });
    expect(Object.keys(await declared(stack))).toEqual(['a']);
  });

  it('with the same row twice is reported once, with the first resource and how many more there are', async () => {
    const stack = await stackWith({
      [all]: template('{ matrix: { service: { file: ../l.csv }, env: [dev, prod], region: [eu, us] } }'),
      'l.csv': 'key\npay\nnet\npay\n',
    });
    const found = await problems(stack);
    expect(places(found)).toEqual([
      'duplicate manifests/all.yaml:4 > l.csv:4 > manifests/all.yaml:4 > l.csv:2',
    ]);
    expect(found[0]?.message).toContain('Workspace "pay-dev-eu" is declared twice');
    expect(found[0]?.message).toContain('(and the same for Workspace "pay-dev-us"');
    expect(found[0]?.fix).toBe('give these items of the list different keys');
  });

  it('whose template has a name without an expression is one error, however many items it has', async () => {
    const stack = await stackWith({
      [all]: template('{ file: ../l.csv }', '{}', 'app'),
      'l.csv': `key\n${Array.from({ length: 300 }, (_, index) => `k${index}\n`).join('')}`,
    });
    const found = await problems(stack);
    expect(found.map(({ message }) => message)).toEqual([
      'Workspace "app" is declared 300 times for target "acme"',
    ]);
    expect(found[0]?.fix).toContain('put ${each.key} into it');
  });

  it('that lacks a column, or a member in every item, is reported once, and otherwise for each item', async () => {
    const spec = '{ description: "${each.value.taem}" }';
    const csv = await stackWith({
      [all]: template('{ file: ../l.csv }', spec),
      'l.csv': 'key,team\na,x\nb,y\n',
    });
    const [lacking, ...others] = await problems(csv);
    expect(lacking).toMatchObject({
      message: '"${each.value.taem}": the list has no column "taem"',
      fix: 'did you mean "team"?',
    });
    expect(others).toEqual([]);
    expect(places(lacking === undefined ? [] : [lacking])).toEqual([
      'missing-member manifests/all.yaml:6 > l.csv:1',
    ]);
    const list = (third: string) => `{ a: { team: x }, b: { team: y }, c: { ${third}: z } }`;
    const yaml = await stackWith({ [all]: template(list('team'), spec) });
    expect((await problems(yaml)).map(({ message }) => message)).toEqual([
      '"${each.value.taem}": no item of the list has a member "taem"',
    ]);
    await yaml.write(all, template(list('taem'), spec));
    expect((await problems(yaml)).map(({ message }) => message)).toEqual([
      '"${each.value.taem}": the value of item "a" has no member "taem"',
      '"${each.value.taem}": the value of item "b" has no member "taem"',
    ]);
  });

  it.each([
    ['../services.yaml', 'to read it from a file, write "{ file: ../services.yaml }"'],
    [
      '{ file: ../l.csv, env: [dev] }',
      'for the product of several lists, put all of them below "matrix", each under its name',
    ],
    ['{ file: ../semicolons.csv }', 'separate the columns with ","'],
  ])('in another form, such as %s, is an error that shows the right form', async (each, fix) => {
    const files = { 'l.csv': 'key\npay\n', 'semicolons.csv': 'key;team\npay;x\n' };
    const stack = await stackWith({ [all]: template(each), ...files });
    expect((await problems(stack)).map((one) => one.fix)).toEqual([fix]);
  });

  it('is refused outside of the repository, behind a link as well', async () => {
    const outside = temporaryFolder({ 'l.yaml': '- a\n' });
    const stack = await stackWith({ [all]: template('{ file: ../l.yaml }') });
    symlinkSync(join(outside, 'l.yaml'), join(stack.directory, 'l.yaml'));
    expect((await problems(stack)).map(({ code }) => code)).toEqual(['outside-repository']);
  });

  it.each([
    [
      'a quote that is never closed',
      'key,x\na,"one\nb,two\nc,three\n',
      2,
      'a quote is opened and never closed',
    ],
    [
      'a quote that the next one closes, lines later',
      'key,x\na,"one\nb,two\nc,"three"\n',
      2,
      'the quote that is opened here is closed before "t" in line 4, and not before a comma or the end of a row',
    ],
    ['a quote within a cell', 'key,x\na,o"ne\n', 2, 'a quote stands in a cell that does not begin with one'],
    ['a cell too many', 'key,x\r\n\r\n"a",b,c\r\n', 3, 'the row has 3 cells, and the header 2'],
    ['a cell too few', 'key,x,y\n"a\nb",""""\n', 2, 'the row has 2 cells, and the header 3'],
  ])('with %s is an error at the line where it begins', async (_, text, line, message) => {
    const stack = await stackWith({ [all]: template('{ file: ../l.csv }'), 'l.csv': text });
    expect(await problems(stack)).toMatchObject([
      { code: 'csv-syntax', message, place: { file: 'l.csv', line } },
    ]);
  });

  it('must be UTF-8', async () => {
    const stack = await stackWith({ [all]: template('{ file: ../l.yaml }') });
    writeFileSync(join(stack.directory, 'l.yaml'), Buffer.from([0x2d, 0x20, 0xff, 0x0a]));
    expect((await problems(stack)).map(({ code }) => code)).toEqual(['not-utf-8']);
  });

  it('that cannot be read makes the run incomplete, so that nothing is removed', async () => {
    const stack = await stackWith({ [all]: template('{ file: ../l.yaml }'), 'l.yaml': '- a\n' });
    await stack.run(['apply', '--yes'], 0);
    rmSync(join(stack.directory, 'l.yaml'));
    const { err, out } = await stack.tryRun(['plan']);
    expect(out + err).toContain('"l.yaml" cannot be read');
    expect(out).not.toContain('delete');
  });

  it('is refused before it is multiplied, if it makes too many resources', async () => {
    const rows = Array.from({ length: 1000 }, (_, index) => `k${index}`);
    const lists = ['a', 'b', 'c'].map((name) => `${name}: { file: ../l.csv }`).join(', ');
    const stack = await stackWith({
      [all]: template(`{ matrix: { ${lists} } }`),
      'l.csv': `key\n${rows.join('\n')}\n`,
    });
    const [problem, ...more] = await problems(stack);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ code: 'too-many-resources', place: { line: 5 } });
    expect(problem?.message).toContain('1000000000 documents; at most 100000 are allowed');
  });

  it.each([
    ['in the template', (long: string) => `{ description: "\${each.key} ${long}" }`, ''],
    [
      'that is the same everywhere',
      (long: string) => `{ description: "${long}", workingDirectory: "\${each.key}" }`,
      '',
    ],
    ['in the list', () => '{ description: "${each.value.text}" }', 'x'],
    ['in a value that is a map', () => '{ tags: "${each.value}" }', 'x'],
  ])('is refused before it uses too much memory, if it multiplies a long text %s', async (_, spec, cell) => {
    const long = 'x'.repeat(1_000_000);
    const keys = Array.from({ length: 300 }, (_, index) => `k${index}`);
    const lists = `env: [${keys.join(', ')}], value1: { file: ../l.csv }`;
    const stack = await stackWith({
      [all]: template(`{ matrix: { ${lists} } }`, spec(long).replaceAll('each.value', 'each.value1')),
      'l.csv': `key,text\na,${cell === '' ? '' : long}\n`,
    });
    const [problem, ...more] = await problems(stack);
    expect(more).toEqual([]);
    expect(problem).toMatchObject({ code: 'too-many-resources', place: { line: 5 } });
    expect(problem?.message).toContain('documents of more than 200 million characters');
  });

  it('is refused also if a single text of it would be too long, and reported once', async () => {
    const one = template('{ file: ../l.csv }', `{ description: "${'${each.value.text}'.repeat(600)}" }`);
    const stack = await stackWith({
      [all]: `${one}---\n${one}`,
      'l.csv': `key,text\na,${'x'.repeat(1_000_000)}\n`,
    });
    const found = await problems(stack);
    expect(found.map(({ code }) => code)).toEqual(['too-many-resources']);
    expect(found[0]?.fix).toContain('shorten the texts');
  });

  it('cannot choose the source of a secret, unless the stack says which ones it may choose', async () => {
    const config = `apiVersion: trueup.dev/v1
kind: ClusterAuthConfig
metadata: { name: config, each: { config: { jwt: { env: API_TOKEN } } } }
spec: { clusterHost: "https://10.0.0.1", tokenReviewerJwt: "\${each.value.jwt}" }
`;
    const stack = await stackWith({ [all]: config });
    const [problem] = (await problems(stack)).filter(({ code }) => code === 'source-not-admitted');
    expect(problem?.message).toBe(
      'the source of a secret comes from a list, and the stack does not limit the sources of secrets',
    );
    const limited = await stack.reconfigure({ spec: { secrets: { env: ['REVIEWER_*'] } } });
    expect((await problems(limited)).map(({ code }) => code)).toContain('source-not-admitted');
    await stack.write(all, config.replace('API_TOKEN', 'REVIEWER_JWT'));
    const { out } = await limited.tryRun(['validate', '--format', 'json']);
    expect(out).not.toContain('source-not-admitted');
  });

  it('never shows a secret from it, not even in an excerpt', async () => {
    const stack = await stackWith({
      [all]: template(
        '{ file: ../l.csv }',
        '{ autoApply: "${each.value.auto}", description: "${each.value.token}" }',
      ),
      'l.csv': 'key,auto,token\na,maybe,planted-in-a-list-3310\n',
    });
    const { out, err } = await stack.run(['validate'], 7);
    expect(out + err).toContain('wrong-type');
    expect(out + err).toContain('l.csv:2');
    expect(out + err).not.toContain('planted-in-a-list');
  });
});

describe('A secret that is written in a list', () => {
  it('is refused, and shown neither in the message nor in the excerpt of the list', async () => {
    const stack = await stackWith({
      [all]: `apiVersion: trueup.dev/v1
kind: ClusterAuthConfig
metadata: { name: config, each: { file: ../l.yaml } }
spec: { clusterHost: "https://10.0.0.1", tokenReviewerJwt: "\${each.value.about}" }
`,
      'l.yaml': 'config: { about: written-by-mistake-5512 }\n',
    });
    const { out, err } = await stack.run(['validate'], 7);
    expect(out + err).toContain('literal-secret');
    expect(out + err).toContain('l.yaml:1');
    expect(out + err).not.toContain('written-by-mistake');
  });
});

describe('The file of a list counts as a manifest', () => {
  const files = {
    'stacks/pay/manifests/list.yaml': template('{ file: ../../../lists/pay.csv }'),
    'lists/pay.csv': 'key\npay-one\n',
  };

  it('for the job of a pull request, which plans the stack when only the list changes', async () => {
    const { propose, job, push } = await openCiScene();
    push(files);
    propose({ 'lists/pay.csv': 'key\npay-one\npay-two\n' });
    const ran = await job({ args: ['--list'] });
    expect(ran.out).toBe('stacks/pay\n');
    expect((await job()).out).toContain('Workspace/acme/pay-two');
  });

  it('for the guard that stops an older commit', async () => {
    const stack = await stackWith({ [all]: template('{ file: ../l.csv }'), 'l.csv': 'key\na\n' });
    const commit = () => {
      git(stack.directory, 'add', '-A');
      git(stack.directory, 'commit', '-qm', 'change');
    };
    git(stack.directory, 'init', '-q', '-b', 'main');
    commit();
    await stack.run(['apply', '--yes'], 0);
    await stack.write('l.csv', 'key\na\nb\n');
    commit();
    await stack.run(['apply', '--yes'], 0);
    git(stack.directory, 'checkout', '-q', 'HEAD~1');
    const { out } = await stack.tryRun(['plan']);
    expect(out).toContain('older-commit');
  });
});
