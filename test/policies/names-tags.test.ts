import { describe, expect, it } from 'vitest';
import { namesTags } from '../../src/policies/names-tags.ts';

describe('A rule depends on tags', () => {
  it.each([
    'resource.tags.env == "prod"',
    'resource . tags.exists(key, true)',
    'resource["tags"].size() == 0',
    '[resource].all(r, r.tags.env != "prod")',
    'resource.?tags.?env == optional.of("prod")',
    'has(resource.tags.env)',
    'resource == {"tags": {}}',
    'resource.name == """ " """ && resource.tags.env == "prod"',
    String.raw`resource.name == r"\" && resource.tags.env == "prod"`,
    'resource.name == "//" && resource.tags.env == "prod"',
    'resource // of the plan\n.tags.env == "prod"',
  ])('if it is %s', (rule) => {
    expect(namesTags({ rule })).toBe(true);
    expect(namesTags({ rule: 'true', message: rule })).toBe(true);
  });

  it.each([
    'resource.spec.autoApply',
    'resource != null && resource.name == "resource"',
    'change.action == "delete" // resource.tags',
    'resource.tagsOf == 1',
    'plan.counts.delete == 0',
    String.raw`resource.name == 'it\'s a resource'`,
  ])('but not if it is %s', (rule) => {
    expect(namesTags({ rule })).toBe(false);
  });
});
