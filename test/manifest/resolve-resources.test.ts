import { describe, expect, it } from 'vitest';
import type { DesiredResource } from '../../src/model/resource.ts';
import { plainStack, readOne } from '../support/manifest/manifest-folder.ts';

const head = 'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app }\n';

async function resolve(manifest: string, defaults = ''): Promise<DesiredResource[]> {
  const stack = defaults === '' ? plainStack : `${plainStack}  defaults:\n${defaults}`;
  const { resources, diagnostics } = await readOne(manifest, stack);
  expect(diagnostics).toEqual([]);
  return [...resources];
}

const at = ({ file, line, column }: DesiredResource['place']) => `${file}:${line}:${column}`;

describe('a manifest', () => {
  it('becomes the resource that it describes', async () => {
    const [resource] = await resolve(
      'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, adopt: true, onRemove: release }\nspec:\n  repo: { identifier: a/b }\n  paths: []\n',
    );
    expect(resource).toMatchObject({
      address: { kind: 'Parent', target: 'acme', name: 'app' },
      spec: { repo: { identifier: 'a/b' }, paths: [] },
      metadata: { name: 'app', adopt: true, onRemove: 'release' },
      fromDefaults: [],
    });
    expect(resource && at(resource.place)).toBe('manifests/a.yaml:3:19');
    expect(resource && at(resource.placeOf(['repo', 'identifier']))).toBe('manifests/a.yaml:5:23');
    expect(resource && at(resource.placeOf(['repo', 'branch']))).toBe('manifests/a.yaml:5:3');
    expect(resource && at(resource.placeOf(['workers']))).toBe('manifests/a.yaml:3:19');
  });

  it('gets the name that the service stores, and keeps its own', async () => {
    const [resource] = await resolve(
      'apiVersion: trueup.dev/v1\nkind: Role\nmetadata: { name: Payments }\nspec: { holders: [a] }\n',
    );
    expect(resource?.address).toEqual({ kind: 'Role', target: 'prod', name: 'payments' });
    expect(resource?.metadata).toEqual({ name: 'Payments' });
  });

  it('with a removal request has an empty spec, for any defaults', async () => {
    const [resource] = await resolve(
      'apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: app, remove: force }\n',
      '    Parent: { workers: 2, tags: { a: b } }\n',
    );
    expect(resource).toMatchObject({ spec: {}, metadata: { name: 'app', remove: 'force' } });
  });
});

describe('the defaults of the stack', () => {
  const defaults = '    Parent: { workers: 2, repo: { branch: main }, tags: { team: a } }\n';

  it('are merged under the spec, and each value has its place', async () => {
    const [resource, labels] = await resolve(
      `${head}spec:\n  repo: { identifier: x }\n  tags: { env: prod }\n`,
      defaults,
    );
    expect(resource?.spec).toEqual({ workers: 2, repo: { branch: 'main', identifier: 'x' } });
    expect(resource?.fromDefaults).toEqual(['workers']);
    expect(resource && at(resource.placeOf(['workers']))).toBe('trueup.yaml:10:24');
    expect(resource && at(resource.placeOf(['repo', 'branch']))).toBe('trueup.yaml:10:43');
    expect(resource && at(resource.placeOf(['repo', 'identifier']))).toBe('manifests/a.yaml:5:23');
    expect(labels?.spec).toEqual({ labels: { team: 'a', env: 'prod' } });
    expect(labels && at(labels.placeOf(['labels', 'team']))).toBe('trueup.yaml:10:65');
    expect(labels && at(labels.placeOf(['labels', 'env']))).toBe('manifests/a.yaml:6:16');
  });

  it('apply to short forms, too', async () => {
    const [, labels] = await resolve(`${head}spec: { repo: { identifier: x } }\n`, defaults);
    expect(labels).toMatchObject({
      address: { kind: 'Labels', name: 'app' },
      spec: { labels: { team: 'a' } },
      fromDefaults: ['labels'],
    });
    expect(labels && at(labels.place)).toBe('trueup.yaml:10:51');
  });

  it('of the kind of a short form apply to it', async () => {
    const [, labels] = await resolve(`${head}spec: { tags: { a: b } }\n`, '    Labels: { keep: [x] }\n');
    expect(labels).toMatchObject({ spec: { labels: { a: 'b' }, keep: ['x'] }, fromDefaults: ['keep'] });
    expect(labels && at(labels.placeOf(['keep', '0']))).toBe('trueup.yaml:10:22');
  });
});

describe('a short form', () => {
  it('becomes the resource that a document of its kind would declare', async () => {
    const manifest = `${head}spec:\n  tags: { env: prod }\n  readers: [one, two]\n`;
    const [boxResource, labels, readers] = await resolve(manifest);
    expect(boxResource?.spec).toEqual({});
    expect(labels).toMatchObject({
      address: { kind: 'Labels', target: 'acme', name: 'app' },
      spec: { labels: { env: 'prod' } },
      metadata: { name: 'app' },
    });
    expect(readers?.spec).toEqual({ names: ['one', 'two'] });
    expect(labels && at(labels.place)).toBe('manifests/a.yaml:5:3');
    expect(labels && at(labels.placeOf(['labels', 'env']))).toBe('manifests/a.yaml:5:16');
    expect(readers && at(readers.placeOf(['names', '1']))).toBe('manifests/a.yaml:6:18');
  });

  it('may be empty or null, which is not the same as missing', async () => {
    const resources = await resolve(`${head}spec: { tags: {}, readers: null }\n`);
    expect(resources.map(({ address, spec }) => [address.kind, spec])).toEqual([
      ['Parent', {}],
      ['Labels', { labels: {} }],
      ['Readers', { names: null }],
    ]);
  });
});

describe('a deprecated spelling', () => {
  it('is replaced by the current one, and keeps its place', async () => {
    const [resource] = await resolve(`${head}spec:\n  operations: false\n`);
    expect(resource?.spec).toEqual({ runMode: 'local' });
    expect(resource && at(resource.placeOf(['runMode']))).toBe('manifests/a.yaml:5:15');
  });

  it('in a manifest overrides the new one in the defaults, and the other way round', async () => {
    const [old] = await resolve(`${head}spec: { operations: false }\n`, '    Parent: { runMode: agent }\n');
    expect(old).toMatchObject({ spec: { runMode: 'local' }, fromDefaults: [] });
    const [today] = await resolve(`${head}spec: { runMode: agent }\n`, '    Parent: { operations: false }\n');
    expect(today).toMatchObject({ spec: { runMode: 'agent' }, fromDefaults: [] });
    const [neither] = await resolve(`${head}spec: {}\n`, '    Parent: { operations: false }\n');
    expect(neither).toMatchObject({ spec: { runMode: 'local' }, fromDefaults: ['runMode'] });
    expect(neither && at(neither.placeOf(['runMode']))).toBe('trueup.yaml:10:27');
  });
});

describe('anchors', () => {
  it('lead to the place where a value was written', async () => {
    const [, second] = await resolve(
      `apiVersion: trueup.dev/v1\nkind: Parent\nmetadata: { name: one }\nspec: { workers: 1 }\n---\n${head}spec:\n  repo: &r { identifier: x }\n  workers: 2\n`,
    );
    expect(second && at(second.placeOf(['repo', 'identifier']))).toBe('manifests/a.yaml:10:26');
  });
});
