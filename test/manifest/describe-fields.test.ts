// The reference of fields is complete, and comes from schemas and field tables.
import { describe, expect, it } from 'vitest';
import { kinds } from '../../src/kinds/index.ts';
import { describeKinds, type FieldDescription } from '../../src/manifest/schema/describe-fields.ts';
import { adjustableGuardIds } from '../../src/model/guard.ts';

const described = describeKinds(kinds);
const all = described.flatMap(({ name, fields }) => fields.map((field) => ({ name, field })));

function field(kind: string, path: string): FieldDescription | undefined {
  return described.find(({ name }) => name === kind)?.fields.find((each) => each.path === path);
}

describe('the description of fields', () => {
  it('contains every kind and the stack, and each field of the field tables', () => {
    expect(described.map(({ name }) => name)).toEqual([...kinds.keys(), 'Stack']);
    for (const [name, { fields, shortForms = {} }] of kinds)
      for (const top of [...Object.keys(fields), ...Object.keys(shortForms)])
        expect(field(name, `spec.${top}`), `${name}.${top}`).toBeDefined();
  });

  it('has a type and a description of every field', () => {
    const bare = all.filter(
      ({ field: { type, description } }) => type === '' || !/\w.*\.$/s.test(description),
    );
    expect(bare.map(({ name, field: { path } }) => `${name}.${path}`)).toEqual([]);
  });

  it('explains null for every field that accepts it', () => {
    const nullable = all.filter((each) => each.field.null !== undefined);
    expect(nullable.length).toBeGreaterThan(30);
    expect(nullable.filter((each) => each.field.null === 'the default of the service')).toEqual([]);
  });

  it.each([
    [
      'Workspace spec.executionMode',
      {
        type: '"remote", "local" or "agent"',
        default: 'not managed',
        null: 'inherited from the project or the organization',
      },
    ],
    [
      'Workspace spec.vcsRepo.branch',
      { type: 'text', default: 'not managed', null: 'the default branch of the repository' },
    ],
    ['Workspace spec.tags', { type: 'a map of text', default: 'not managed', null: '{}' }],
    [
      'ClusterAuthRole spec.tokenTtl',
      { type: 'a whole number from 0 or text', default: 'not managed', null: '0: what the mount gives' },
    ],
    ['ClusterAuthConfig spec.disableIssValidation', { type: 'true or false', default: 'true', null: 'true' }],
    ['Workspace metadata.protect', { type: 'true or false', default: 'false' }],
    ['Stack spec.targets.url', { type: 'text', default: 'none: the field is required' }],
    ['Stack spec.guards.maxDeletePercent', { type: 'a number from 0 to 100', default: '10' }],
    ['Stack spec.manifests', { type: 'a list of text or a map', default: 'none: the field is required' }],
  ])('describes %s', (name, expected) => {
    const [kind = '', path = ''] = name.split(' ');
    const found = field(kind, path);
    expect(found).toMatchObject(expected);
    expect(found !== undefined && 'null' in found).toBe('null' in expected);
  });

  it('lists many allowed words separately from the type', () => {
    expect(field('Stack', 'spec.guards.allow')).toMatchObject({
      type: 'a list of text',
      values: adjustableGuardIds,
    });
  });
});
