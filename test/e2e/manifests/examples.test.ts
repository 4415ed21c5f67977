// Every example does what it shows: it validates, plans, applies, and then nothing is left; editors can check its files.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { trueup } from '../../support/captured-host.ts';
import { copyExample, examples } from '../../support/cli/example-copy.ts';

const schemas = resolve(examples, '../schemas');

const names = readdirSync(examples, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? [entry.name] : [],
);

/** The folders of all stacks; an example may have several. */
const stacks = names.flatMap((name) =>
  yamlFiles(name)
    .filter((file) => basename(file) === 'trueup.yaml')
    .map((file) => join(name, dirname(file))),
);

/** Compiles a schema file as an editor would. */
function compile(file: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  return ajv.compile(JSON.parse(readFileSync(file, 'utf8')));
}

/** The YAML files of an example, by their paths in it, without files that runs left behind. */
function yamlFiles(example: string): string[] {
  const directory = join(examples, example);
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name) && !entry.parentPath.includes('.trueup'))
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .sort();
}

interface Document {
  readonly apiVersion?: string;
}

/** Only manifests: seeds of the embedded service have no apiVersion, and files for Kubernetes have another one. */
const manifests = names.flatMap((example) =>
  yamlFiles(example).flatMap((file) => {
    const path = join(examples, example, file);
    const text = readFileSync(path, 'utf8');
    const documents = loadAll(text) as Document[];
    return documents.some(({ apiVersion = '' }) => `${apiVersion}`.startsWith('trueup.dev/'))
      ? [{ name: `${example}/${file}`, path, text, documents }]
      : [];
  }),
);

it('there are examples, each with a stack', () => {
  expect(names).toContain('quickstart');
  // Files for CI systems, and policies for any stack, have tests of their own.
  const others = names.filter((name) => name !== 'ci' && name !== 'policies');
  for (const name of others) expect(stacks.some((stack) => stack.startsWith(name))).toBe(true);
});

describe.each(stacks)('examples/%s', (stack) => {
  it('is valid without warnings', async () => {
    const { code, out, err } = await trueup(['validate'], { cwd: await copyExample(stack) });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^valid: stack /);
  });
});

// test/examples.test.ts runs the commands on the pages of the other examples.
describe.each(['quickstart'])('examples/%s', (name) => {
  it('is planned and applied without a running service, and the next plan is empty', async () => {
    const cwd = await copyExample(name);
    const planned = await trueup(['plan', '--format', 'json', '--exit-code'], { cwd });
    expect(planned, planned.err).toMatchObject({ code: 2, err: '' });
    const plan = JSON.parse(planned.out);
    const isPlan = compile(join(schemas, 'plan.schema.json'));
    isPlan(plan);
    expect(isPlan.errors).toBeNull();
    expect(plan).toMatchObject({ coverage: { complete: true }, problems: [] });

    const applied = await trueup(['apply', '--yes', '--format', 'json'], { cwd });
    expect(applied, applied.err).toMatchObject({ code: 0 });
    const { summary } = JSON.parse(applied.out);
    expect(summary).toEqual({
      applied: plan.changes.length,
      unchanged: 0,
      stale: 0,
      skipped: 0,
      unknown: 0,
      failed: 0,
    });

    const again = await trueup(['plan', '--format', 'json', '--exit-code'], { cwd });
    expect(again).toMatchObject({ code: 0, err: '' });
    const after = JSON.parse(again.out);
    expect(isPlan(after)).toBe(true);
    expect(after).toMatchObject({ changes: [], coverage: { complete: true }, problems: [] });
    expect(after.summary.unchanged).toBe(plan.changes.length);
  });

  it('has the same digest wherever it is planned', async () => {
    const plans = [];
    for (let time = 0; time < 2; time++) {
      const { out } = await trueup(['plan', '--format', 'json'], { cwd: await copyExample(name) });
      plans.push(JSON.parse(out).digest);
    }
    expect(plans[0]).toBe(plans[1]);
  });
});

describe.each(manifests)('an editor that opens $name', ({ path, text, documents }) => {
  const [, schema] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];

  it('finds the schema that its first line names', () => {
    expect(schema).toBeDefined();
    expect(readdirSync(schemas).map((file) => join(schemas, file))).toContain(
      resolve(dirname(path), schema ?? ''),
    );
  });

  it('reports no error in it', () => {
    const check = compile(resolve(dirname(path), schema ?? ''));
    for (const document of documents) {
      check(document);
      expect(check.errors).toBeNull();
    }
  });

  it('would report a field that does not exist', () => {
    const check = compile(resolve(dirname(path), schema ?? ''));
    for (const document of documents) expect(check({ ...document, speck: {} })).toBe(false);
  });
});
