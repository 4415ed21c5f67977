import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ShownDiagnostic } from '../../../src/model/diagnostic.ts';
import { guardTexts } from '../../../src/model/guard-texts.ts';
import { renderSarif } from '../../../src/report/json/sarif.ts';
import { anyDiagnostic } from '../../support/report/arbitrary-plan.ts';
import { markdownAttack } from '../../support/report/markdown-attacks.ts';
import { place, problem } from '../../support/report/small-plan.ts';

const ajv = addFormats.default(new Ajv({ strict: false, allErrors: true }));
const schema = JSON.parse(readFileSync(new URL('sarif-2.1.0.subset.json', import.meta.url), 'utf8'));
const check = ajv.compile(schema);

function sarif(...diagnostics: ShownDiagnostic[]) {
  const text = renderSarif(diagnostics, {
    version: '1.2.3',
    stackFile: 'trueup.yaml',
    pathOf: (file) => (file === '-' ? undefined : `stacks/${file}`),
  });
  const log = JSON.parse(text);
  check(log);
  expect(check.errors ?? []).toEqual([]);
  return log.runs[0];
}

it('a problem is a result at its place, with the rule of its code', () => {
  const run = sarif(
    problem({
      code: 'unknown-field',
      message: 'there is no field "colr" [see below]',
      place: place({ line: 4, column: 9, length: 4 }),
      fix: 'write "colour"',
      related: [
        { message: 'the first one', place: place({ line: 2, column: 1, length: 1 }) },
        { message: 'no place' },
      ],
    }),
    problem({
      code: 'empty-file',
      severity: 'warning',
      message: 'nothing in it',
      place: place({ file: 'a b:c.yaml' }),
    }),
  );
  expect(run.tool.driver).toMatchObject({ name: 'trueup', version: '1.2.3' });
  expect(run.tool.driver.rules.map(({ id }: { id: string }) => id)).toEqual(['empty-file', 'unknown-field']);
  expect(run.results[0]).toEqual({
    ruleId: 'unknown-field',
    ruleIndex: 1,
    level: 'error',
    message: { text: 'there is no field "colr" \\[see below\\]\nfix: write "colour"' },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: 'stacks/toys.yaml' },
          region: { startLine: 4, startColumn: 9, endColumn: 13 },
        },
      },
    ],
    relatedLocations: [
      {
        id: 0,
        physicalLocation: {
          artifactLocation: { uri: 'stacks/toys.yaml' },
          region: { startLine: 2, startColumn: 1, endColumn: 2 },
        },
        message: { text: 'the first one' },
      },
    ],
  });
  expect(run.results[1].locations[0].physicalLocation.artifactLocation.uri).toBe('stacks/a%20b%3Ac.yaml');
});

it('a problem without a place, or of standard input, is at the stack file', () => {
  const run = sarif(problem(), problem({ place: place({ file: '-' }) }));
  for (const { locations } of run.results)
    expect(locations).toEqual([{ physicalLocation: { artifactLocation: { uri: 'stacks/trueup.yaml' } } }]);
});

it('a guard or a policy of a plan has a rule that says what to do', () => {
  const { rules } = sarif(
    problem({ code: 'deletes' as 'not-ours', message: 'many' }),
    problem({ code: 'policy/no-deletes' as 'not-ours', message: 'no' }),
    problem({ code: 'policy/[x](y)' as 'not-ours', message: 'no' }),
  ).tool.driver;
  expect(rules).toEqual([
    {
      id: 'deletes',
      shortDescription: { text: 'The plan deletes many resources' },
      help: { text: expect.stringContaining('make sure that each delete in the plan is intended.') },
      defaultConfiguration: { level: 'error' },
    },
    { id: 'policy/[x](y)' },
    {
      id: 'policy/no-deletes',
      shortDescription: { text: 'A change violates the policy "no-deletes"' },
      help: { text: expect.stringContaining('ask the owners of the policy to exempt it') },
    },
  ]);
  const all = Object.keys(guardTexts).map((code) => problem({ code: code as 'not-ours' }));
  for (const rule of sarif(...all).tool.driver.rules) expect(rule.help.text).toMatch(/\.$/);
});

it('without a problem the log has a run without results', () => {
  expect(sarif()).toMatchObject({ results: [] });
});

it('for any texts, the log is valid against the schema, and no message has a link', () => {
  const attack = markdownAttack.map((text) =>
    problem({ code: text as 'not-ours', message: text, fix: text, place: place({ file: text || 'x' }) }),
  );
  fc.assert(
    fc.property(fc.array(fc.oneof(anyDiagnostic, attack), { maxLength: 4 }), (found) => {
      const run = sarif(...found);
      expect(run.results).toHaveLength(found.length);
      for (const { message } of run.results) expect(message.text).not.toMatch(/(?<!\\)(?:\\\\)*\]\(/);
    }),
    { numRuns: 60 },
  );
});

it('the log of two problems equals the golden file', async () => {
  const text = renderSarif(
    [
      problem({
        code: 'unknown-field',
        message: 'there is no field "colr"',
        place: place(),
        fix: 'write "colour"',
        related: [{ message: 'the first one', place: place({ line: 2 }) }],
      }),
      problem({ code: 'empty-file', severity: 'warning', message: 'nothing in it' }),
    ],
    { version: '1.2.3', stackFile: 'trueup.yaml', pathOf: (file) => file },
  );
  check(JSON.parse(text));
  expect(check.errors ?? []).toEqual([]);
  await expect(`${text}\n`).toMatchFileSnapshot('sarif.golden.json');
});

it('a log of more problems than code scanning accepts has all errors, and counts the others', () => {
  const many = Array.from({ length: 25_010 }, (_, index) =>
    problem({ severity: index < 20 ? 'warning' : 'error', message: `problem ${index}` }),
  );
  const { results, invocations } = sarif(...many);
  expect(results).toHaveLength(25_000);
  expect(results.filter(({ level }: { level: string }) => level === 'error')).toHaveLength(24_990);
  expect(invocations[0].toolExecutionNotifications[0].message.text).toMatch(
    /^10 more problems without a result/,
  );
});

it('a problem with very many related places shows a hundred of them', () => {
  const related = Array.from({ length: 1_500 }, (_, line) => ({
    message: 'here, too',
    place: place({ line: line + 1 }),
  }));
  expect(sarif(problem({ related })).results[0].relatedLocations).toHaveLength(100);
});
