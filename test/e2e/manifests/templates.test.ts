/** One document for many resources: what a template makes, what it refuses, and which places its errors name. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { openBench } from '../../support/cli/bench.ts';
import { all, declared, places, problems, stackWith, template } from '../../support/cli/template-stack.ts';

describe('A template', () => {
  it('makes a resource for each text of a list, with the text in its name', async () => {
    const stack = await stackWith({
      [all]: template('[dev, prod]', '{ description: "for ${each.key}" }', 'net-${each.key}'),
    });
    expect(await declared(stack)).toMatchObject({
      'net-dev': { description: 'for dev' },
      'net-prod': { description: 'for prod' },
    });
  });

  it('keeps the type of an expression that is a whole text, a map included', async () => {
    const list =
      '{ app: { auto: true, paths: [a, b], vcs: { identifier: acme/app, oauthTokenId: ot-git } } }';
    const spec =
      '{ autoApply: "${each.value.auto}", triggerPrefixes: "${each.value.paths}", vcsRepo: "${each.value.vcs}" }';
    const stack = await stackWith({ [all]: template(list, spec) });
    expect(await declared(stack)).toMatchObject({
      app: { autoApply: true, triggerPrefixes: ['a', 'b'], vcsRepo: { identifier: 'acme/app' } },
    });
  });

  it('reads cells of a CSV file as texts, and as booleans where the schema requires them', async () => {
    const stack = await stackWith({
      [all]: template(
        '{ file: ../apps.csv }',
        '{ autoApply: "${each.value.auto}", description: "${each.value.about}" }',
      ),
      'apps.csv': 'key,auto,about\r\none,true,"a ""quoted"", text"\r\n\r\ntwo,false,true\r\n',
    });
    expect(await declared(stack)).toMatchObject({
      one: { autoApply: true, description: 'a "quoted", text' },
      two: { description: 'true' },
    });
  });

  it('makes the product of lists, with their keys joined', async () => {
    const stack = await stackWith({
      [all]: template(
        '{ matrix: { service: { file: ../services.yaml }, env: [dev, prod], region: { file: ../regions.json } } }',
        '{ description: "${each.service.key} of ${each.service.team} in ${each.env}, ${each.region.zone}" }',
      ),
      'services.yaml': 'pay: { team: red }\nnet: { team: blue }\n',
      'regions.json': '[{ "key": "eu", "zone": "eu-1" }]',
    });
    expect(await declared(stack)).toMatchObject({
      'pay-dev-eu': { description: 'pay of red in dev, eu-1' },
      'pay-prod-eu': { description: 'pay of red in prod, eu-1' },
      'net-dev-eu': { description: 'net of blue in dev, eu-1' },
      'net-prod-eu': { description: 'net of blue in prod, eu-1' },
    });
  });

  it('reads "$${" as the characters "${", and other documents keep "${" as it is', async () => {
    const plain =
      'apiVersion: trueup.dev/v1\nkind: Workspace\nmetadata: { name: plain }\nspec: { description: "${each.key} $${x}" }\n';
    const stack = await stackWith({
      [all]: `${template('[a]', '{ description: "$${each.key} ${each.key}" }')}---\n${plain}`,
    });
    expect(await declared(stack)).toMatchObject({
      a: { description: '${each.key} a' },
      plain: { description: '${each.key} $${x}' },
    });
  });

  it('reads members such as "__proto__" as data, and finds no inherited members', async () => {
    const list = '[{ key: a, __proto__: x, constructor: y }]';
    const spec =
      '{ description: "${each.value.__proto__} ${each.value.constructor}", workingDirectory: "${each.value.toString}" }';
    const stack = await stackWith({ [all]: template(list, spec) });
    expect((await problems(stack)).map(({ message }) => message)).toEqual([
      '"${each.value.toString}": the value of item "a" has no member "toString"',
    ]);
    await stack.write(all, template(list, spec.replace('toString', 'key')));
    expect(await declared(stack)).toMatchObject({ a: { description: 'x y', workingDirectory: 'a' } });
  });

  it('may have anchors in its list, but no circular ones', async () => {
    const list = '\n    - &one { key: a, on: true }\n    - { <<: *one, key: b }';
    const stack = await stackWith({ [all]: template(list, '{ autoApply: "${each.value.on}" }') });
    expect(await declared(stack)).toMatchObject({ a: { autoApply: true }, b: { autoApply: true } });
    await stack.write(all, template('{ file: ../l.yaml }'));
    await stack.write('l.yaml', '- &a { key: a, next: [*a] }\n');
    expect(places(await problems(stack))).toEqual(['endless-alias l.yaml:1']);
  });

  it('renames the resources of rows that have a former name, and no others', async () => {
    const rows = template('{ file: ../l.csv }').replace(
      '  each:',
      '  renamedFrom: ${each.value.was}\n  each:',
    );
    const stack = await stackWith({ [all]: rows, 'l.csv': 'key,was\na,\nb,b\nc,\n' });
    await stack.run(['apply', '--yes'], 0);
    await stack.write('l.csv', 'key,was\na,\nb,b\nnew,c\n');
    expect((await stack.plan()).changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update Workspace/acme/new',
    ]);
  });

  it('renames and removes resources like other documents', async () => {
    const stack = await stackWith({ [all]: template('[a, b]') });
    await stack.run(['apply', '--yes'], 0);
    const renamed = template('[a, b]', '{}', 'new-${each.key}').replace(
      '  each:',
      '  renamedFrom: ${each.key}\n  each:',
    );
    await stack.write(all, renamed);
    expect((await stack.plan()).changes.map(({ address, action }) => `${action} ${address}`)).toEqual([
      'update Workspace/acme/new-a',
      'update Workspace/acme/new-b',
    ]);
    await stack.write(
      all,
      template('[a, b]').replace('  each:', '  remove: safe\n  each:').replace('spec: {}\n', ''),
    );
    expect((await stack.plan()).changes.map(({ action }) => action)).toEqual(['delete', 'delete']);
  });
});

describe('A mistake in a template', () => {
  const cases: readonly (readonly [string, Record<string, string>, readonly string[]])[] = [
    [
      'a column that a list lacks, at the template and the header',
      {
        [all]: template('{ file: ../l.csv }', '{ description: "${each.value.taem}" }'),
        'l.csv': 'key,team\na,x\nb,y\n',
      },
      [`missing-member ${all}:6 > l.csv:1`],
    ],
    [
      'a name that breaks the rules of the kind, at the template and the line of the list',
      { [all]: template('{ file: ../l.yaml }'), 'l.yaml': '- good\n- not good\n' },
      [`pattern ${all}:4 > l.yaml:2`],
    ],
    [
      'a name that is made twice, at both items',
      { [all]: template('{ matrix: { a: [x, x-y], b: { file: ../l.yaml } } }'), 'l.yaml': '- y-z\n- z\n' },
      [`duplicate ${all}:4 > ${all}:5 > ${all}:4 > ${all}:5`],
    ],
    [
      'a name without an expression, at the items',
      { [all]: template('\n    - a\n    - b', '{}', 'app') },
      [`duplicate ${all}:4 > ${all}:7 > ${all}:4 > ${all}:6`],
    ],
    [
      'a value of the wrong type, at the template and its cell',
      {
        [all]: template('{ file: ../l.csv }', '{ autoApply: "${each.value.auto}" }'),
        'l.csv': 'key,auto\na,true\nb,yes\n',
      },
      [`wrong-type ${all}:6 > l.csv:3`],
    ],
    [
      'a number within a text that was written in another way',
      {
        [all]: template(
          '[{ key: a, n: 007 }, { key: b, n: 1.10 }, { key: c, n: 8 }]',
          '{ description: "n ${each.value.n}" }',
        ),
      },
      [`wrong-expression ${all}:6 > ${all}:5`, `wrong-expression ${all}:6 > ${all}:5`],
    ],
    [
      'a map within a text',
      { [all]: template('[{ key: a, m: {} }]', '{ description: "${each.value.m}!" }') },
      [`wrong-expression ${all}:6 > ${all}:5`],
    ],
    [
      'an expression in a key',
      { [all]: template('[a]', '{ tags: { "${each.key}": x } }') },
      [`wrong-expression ${all}:6`],
    ],
    [
      'an expression for something else',
      { [all]: template('[a]', '{ description: "${var.x}" }') },
      [`wrong-expression ${all}:6`],
    ],
    [
      'an expression without its end',
      { [all]: template('[a]', '{ description: "${each.key" }') },
      [`wrong-expression ${all}:6`],
    ],
    [
      'an expression as the kind',
      { [all]: template('[Workspace]').replace('kind: Workspace', 'kind: ${each.key}') },
      [`wrong-expression ${all}:2`],
    ],
    ['an empty list', { [all]: template('[]') }, [`empty-list ${all}:5`]],
    [
      'an empty file',
      { [all]: template('{ file: ../l.yaml, optional: true }'), 'l.yaml': '' },
      [`empty-list ${all}:5`],
    ],
    [
      'a list without items that may not be empty',
      { [all]: template('{ file: ../l.csv }'), 'l.csv': 'key\n' },
      [`empty-list ${all}:5`],
    ],
    [
      'an item without a key',
      { [all]: template('{ file: ../l.yaml }'), 'l.yaml': '- name: a\n' },
      ['invalid-list l.yaml:1'],
    ],
    ['a number as an item', { [all]: template('[a, 1]') }, [`invalid-list ${all}:5`]],
    ['a text as the list', { [all]: template('dev') }, [`invalid-list ${all}:5`]],
    [
      'a header without a key',
      { [all]: template('{ file: ../l.csv }'), 'l.csv': 'name\na\n' },
      ['invalid-list l.csv:1'],
    ],
    [
      'a row with too many cells',
      { [all]: template('{ file: ../l.csv }'), 'l.csv': 'key,x\na,b\nc,d,e\n' },
      ['csv-syntax l.csv:3'],
    ],
    ['a file of another sort', { [all]: template('{ file: ../l.txt }') }, [`invalid-list ${all}:5`]],
    [
      'a member beside a file',
      { [all]: template('{ file: ../l.csv, sort: true }') },
      [`invalid-list ${all}:5`],
    ],
    [
      'a list with the name of a member',
      { [all]: template('{ matrix: { key: [a] } }') },
      [`invalid-list ${all}:5`],
    ],
    [
      'too many lists in a product',
      {
        [all]: template(
          `{ matrix: { ${Array.from({ length: 5000 }, (_, at) => `a${at}: [x]`).join(', ')} } }`,
        ),
      },
      [`invalid-list ${all}:5`],
    ],
    [
      'the file of a manifest',
      { [all]: template('{ file: all.yaml }') },
      ['invalid-list manifests/all.yaml:1'],
    ],
  ];
  it.each(cases)('is reported: %s', async (_, files, expected) => {
    expect(places(await problems(await stackWith(files)))).toEqual(expected);
  });

  it('is reported once for a default or a field that all its documents share', async () => {
    const stack = await stackWith({ [all]: template('[a, b, c]', '{ autoApplay: true }') });
    expect(places(await problems(stack))).toEqual([`unknown-field ${all}:6`]);
  });
});

it('30 services in 3 environments are less than 60 lines', async () => {
  const example = join(import.meta.dirname, '../../../examples/many-workspaces');
  const names = ['trueup.yaml', 'manifests/services.yaml', 'services.csv'];
  const texts = names.map((name) => readFileSync(join(example, name), 'utf8'));
  expect(texts.join('').split('\n').length - 1).toBeLessThan(60);
  expect((await trueup(['validate'], { cwd: example })).out).toContain('180 resources');
});

describe('A template that people edit', () => {
  it('is formatted like other manifests, and its list keeps its order', async () => {
    const text =
      'kind:   Workspace\napiVersion: trueup.dev/v1\nmetadata:\n    each: {matrix: {zone: [b,   a], env: {file: "envs.yaml"}}}\n    name: "${each.key}"\nspec: {autoApply:   "${each.env.auto}", description: "$${x} ${each.zone}"}\n';
    const list = '- {auto: true,   key: z}\n- key: a\n  auto: false\n';
    const stack = await stackWith({ [all]: text, 'manifests/envs.yaml': list });
    const before = await stack.run(['render'], 0);
    await stack.run(['fmt'], 0);
    const formatted = readFileSync(join(stack.directory, all), 'utf8');
    expect(formatted).toBe(`apiVersion: trueup.dev/v1
kind: Workspace
metadata:
  name: \${each.key}
  each: { matrix: { zone: [b, a], env: { file: envs.yaml } } }
spec: { description: '$\${x} \${each.zone}', autoApply: '\${each.env.auto}' }
`);
    expect((await stack.run(['render'], 0)).out).toBe(before.out);
    await stack.run(['fmt', '--check'], 0);
  });

  it('is valid in editors, which accept expressions only in templates', async () => {
    const { default: schema } = await import('../../../schemas/workspace.schema.json', {
      with: { type: 'json' },
    });
    const isValid = new Ajv2020({ strict: false, logger: false, validateFormats: false }).compile(schema);
    const document = {
      apiVersion: 'trueup.dev/v1',
      kind: 'Workspace',
      metadata: { name: '${each.key}', protect: '${each.value.on}', each: { file: 'l.csv' } },
      spec: {
        autoApply: '${each.value.auto}',
        executionMode: '${each.value.mode}',
        tags: '${each.value.tags}',
        vcsRepo: '${each.value.vcs}',
      },
    };
    expect(isValid(document), JSON.stringify(isValid.errors)).toBe(true);
    expect(isValid({ ...document, spec: { ...document.spec, autoApply: 'yes' } })).toBe(false);
    expect(isValid({ ...document, spec: { autoApplay: '${each.key}' } })).toBe(false);
    const { each: _, ...plain } = document.metadata;
    expect(isValid({ ...document, metadata: { ...plain, name: 'app', protect: true } })).toBe(false);
    expect(isValid({ ...document, metadata: { name: 'app' }, spec: { autoApply: true } })).toBe(true);
  });

  it('is reported with the line of its list by a problem that only a plan finds', async () => {
    const bench = await openBench();
    await bench.byHand.created({ name: 'b' });
    const stack = await bench.checkout();
    await stack.write(all, template('{ file: ../l.yaml }'));
    await stack.write('l.yaml', '- a\n- b\n');
    const { out, err } = await stack.tryRun(['plan']);
    expect(out + err).toContain('see: with this item of the list, l.yaml:2:3');
  });
});
