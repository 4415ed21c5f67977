// The reference in the terminal: every code, guard, kind and field, from the sources that the program itself uses.
import { tmpdir } from 'node:os';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { explanationSchema } from '../../../src/commands/explain-schema.ts';
import { kinds } from '../../../src/kinds/index.ts';
import { diagnosticCodes } from '../../../src/model/diagnostic-codes.ts';
import { guardDefaults, guardIds } from '../../../src/model/guard.ts';
import { findingMeanings } from '../../../src/run/finding-meanings.ts';
import { trueup } from '../../support/captured-host.ts';

const cwd = tmpdir();
const isValid = new Ajv2020({ strict: false }).compile(explanationSchema);

async function explain(...args: string[]): Promise<string> {
  const { code, out, err } = await trueup(['explain', ...args], { cwd });
  expect({ code, err }, args.join(' ')).toEqual({ code: 0, err: '' });
  return out;
}

async function explainJson(...args: string[]) {
  const answer = JSON.parse(await explain(...args, '--format', 'json'));
  expect(isValid(answer), JSON.stringify(isValid.errors)).toBe(true);
  return answer;
}

/** The names of everything, fields included. */
async function allNames(): Promise<readonly string[]> {
  const listed: readonly { readonly about: string; readonly name: string }[] = (await explainJson()).terms;
  const fields = await Promise.all(
    listed
      .filter(({ about }) => about === 'kind')
      .map(async ({ name }) =>
        (await explainJson(name)).term.fields.map((field: { name: string }) => field.name),
      ),
  );
  return [...listed.map(({ name }) => name), ...fields.flat()];
}

function fitsInto80(text: string): void {
  expect(text.split('\n').filter((line) => line.length > 80)).toEqual([]);
}

describe('trueup explain', () => {
  it('without a name lists every kind, guard, code and finding', async () => {
    const text = await explain();
    fitsInto80(text);
    const codes = [...Object.keys(diagnosticCodes), ...Object.keys(findingMeanings)];
    const names = [...new Set([...kinds.keys(), 'Stack', 'Policy', ...guardIds, ...codes])];
    for (const name of names) expect(text).toMatch(new RegExp(`(^|[ ,])${name}(,|$)`, 'm'));
    expect((await explainJson()).terms.map(({ name }: { name: string }) => name).toSorted()).toEqual(
      names.toSorted(),
    );
  });

  it('explains each of them, and each field, in 80 columns', async () => {
    const names = await allNames();
    expect(names.length).toBeGreaterThan(350);
    for (const name of names) {
      const text = await explain(name);
      expect(text.split(/[ \n]/)[0]).toBe(name);
      fitsInto80(text);
      expect((await explainJson(name)).term).toMatchObject({ name });
    }
  });

  it('of a code says how severe it is, its exit code, when it occurs, and what to do', async () => {
    const text = await explain('unknown-field');
    expect(text).toMatch(/^unknown-field \(error\)\n/);
    expect(text).toMatch(/^class +invalid \(exit code 7\)$/m);
    expect(text).toMatch(/^occurs +when the stack and its manifests are read/m);
    expect(text.replace(/\s+/g, ' ')).toContain(diagnosticCodes['unknown-field'].fix);
    expect(await explain('open-role')).toMatch(/^open-role \(warning\)\n/);
  });

  it('of a code says its exit code if it differs from that of its class', async () => {
    expect(await explain('not-approved')).toMatch(/^class +failure \(exit code 4\)$/m);
    expect(await explain('guards-block')).toMatch(/^class +failure \(exit code 5\)$/m);
  });

  it('of a guard that cannot be switched off does not offer to allow it', async () => {
    const text = await explain('loosened');
    expect(text).toContain('It always blocks');
    expect(text).not.toContain('only warn');
    expect(text).toContain('or the label trueup-ack/loosened on the pull request');
    expect(text).toContain('in CI: trueup approve plan.json --ack loosened');
  });

  it('of a guard says what trips it, and how it is acknowledged', async () => {
    const text = await explain('takeover');
    expect(text).toContain('The stack has "metadata.renamedFrom"');
    expect(text).toMatch(/^acknowledge +trueup apply --approve DIGEST --ack takeover$/m);
    expect(text).toMatch(/^ +trueup apply plan\.json --ack takeover$/m);
    expect(text).toContain('"spec.guards.allow: [takeover]"');
    for (const [id, effect] of Object.entries(guardDefaults))
      expect(await explain(id)).toMatch(new RegExp(`^effect +${effect}`, 'm'));
    expect(await explain('new-role')).toContain('"spec.guards.raise: [new-role]"');
  });

  it.each([
    [
      'Workspace.executionMode',
      ['field +spec.executionMode', 'default +not managed', 'null +inherited from'],
    ],
    ['ClusterAuthRole.tokenTtl', ['type +a whole number from 0 or text', 'null +0: what the mount gives']],
    ['Workspace.metadata.protect', ['type +true or false', 'default +false', 'null +not allowed']],
    ['Policy.exemptions.until', ['field +spec.exemptions.until']],
    ['Stack.targets.url', ['field +spec.targets.url', 'default +none: the field is required']],
    ['Workspace.vcsRepo', ['members +Workspace.vcsRepo.identifier', 'null +no repository']],
    ['Workspace.sourceUrl', ['note +used only when the resource is created']],
    ['ClusterAuthRole.policies', ['note +deprecated']],
    ['Stack.guards.raise', ['values +older-commit,']],
  ])('of the field %s says its type, its default and what null does', async (name, lines) => {
    const text = await explain(name);
    for (const line of lines) expect(text).toMatch(new RegExp(`^${line}`, 'm'));
  });

  it('of an exit code says when it occurs and what to do', async () => {
    const text = await explain('7');
    expect(text).toContain('exit code 7: invalid manifests');
    expect(text.replace(/\s+/g, ' ')).toContain('fix Correct the lines that the message names.');
    const { term } = await explainJson('7');
    expect(term).toMatchObject({ about: 'exit-code', name: '7' });
  });

  it('accepts a name in any case, and a field with "spec."', async () => {
    const text = await explain('Workspace.executionMode');
    expect(await explain('workspace.executionmode')).toBe(text);
    expect(await explain('Workspace.spec.executionMode')).toBe(text);
    expect(await explain('WORKSPACE')).toBe(await explain('Workspace'));
  });

  it.each([
    ['Workspce.autoApply', 'Workspace.autoApply'],
    ['Workspace.executonMode', 'Workspace.executionMode'],
    ['executionMode', 'Workspace.executionMode'],
    ['unknwon-field', 'unknown-field'],
    ['take-over', 'takeover'],
  ])('of the unknown word %s is an error with the nearest name', async (word, near) => {
    const { code, out, err } = await trueup(['explain', word], { cwd });
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toBe(`error: there is nothing to explain under "${word}": did you mean "${near}"?\n`);
  });

  it('of a word without a similar name says how to list all names', async () => {
    const { code, err } = await trueup(['explain', 'zzz'], { cwd });
    expect(code).toBe(1);
    expect(err).toContain('run "trueup explain" to list the names');
    const json = await trueup(['explain', 'zzz', '--format', 'json'], { cwd });
    expect(json).toMatchObject({ code: 1, err: '' });
    expect(JSON.parse(json.out)).toMatchObject({ diagnostics: [{ code: 'unknown-term' }] });
  });
});
