import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { schemaFiles } from '../../scripts/write-schemas.ts';
import { kinds } from '../../src/kinds/index.ts';

const folder = new URL('../../schemas/', import.meta.url);

describe('the published schemas', () => {
  it('are up to date: "npm run schemas" would write nothing new', async () => {
    const written = new Map<string, string>();
    for (const file of await readdir(folder))
      written.set(file, await readFile(new URL(file, folder), 'utf8'));
    expect([...written.keys()].sort()).toEqual([...schemaFiles().keys()].sort());
    for (const [file, text] of schemaFiles())
      expect(written.get(file) === text, `${file} is fresh`).toBe(true);
  });

  it('cover every kind, the stack, a file of mixed kinds, and the JSON output of commands', () => {
    const files = [...schemaFiles().keys()];
    expect(files).toHaveLength(kinds.size + 29);
    expect(files).toContain('cluster-auth-role.schema.json');
    expect(files).toContain('stack.schema.json');
    expect(files).toContain('manifest.schema.json');
    expect(files).toContain('plan.schema.json');
    expect(files).toContain('apply-event.schema.json');
    expect(files).toContain('login.schema.json');
  });

  it('refer to nothing outside themselves', () => {
    for (const text of schemaFiles().values()) {
      expect(text).not.toContain('"$id"');
      for (const [, reference = ''] of text.matchAll(/"\$ref": "([^"]*)"/g)) expect(reference).toMatch(/^#/);
    }
  });
});
