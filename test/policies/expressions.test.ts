import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { evaluate } from '../../src/policies/run-worker.ts';
import { sampleVariables, shapeOfFields, toCel } from '../../src/policies/variables.ts';

const sample = sampleVariables({}, '2026-11-27T12:00:00Z');
const spec = shapeOfFields([{ autoApply: {}, vcsRepo: { members: { branch: {} } } }]);

async function problemsOf(rule: string): Promise<string[]> {
  const { problems } = await evaluate({ rules: [{ rule, spec }], changes: [], plan: {}, cases: [] });
  return problems.map(({ message, fix }) => (fix === undefined ? message : `${message}; ${fix}`));
}

/** The results of rules, all in one job. */
async function results(rules: readonly (string | { rule: string; message: string })[], change = sample) {
  const asked = await evaluate({
    rules: rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
    changes: [change],
    plan: {},
    cases: rules.map((_, index) => [index, 0] as const),
  });
  return asked.results;
}

describe('A rule', () => {
  it('passes only with true: not with errors, absent members, or values of another type', async () => {
    const rules = [
      'true',
      'false',
      '1',
      '"true"',
      'null',
      '[true]',
      '1 / 0 > 0',
      'resource.spec.absent',
      'resource.spec.absent == true',
      'dyn(1)',
      'type(1)',
      'duration("1s")',
    ];
    const found = await results(rules);
    expect(found.map(({ is }) => is)).toEqual(['pass', 'violation', ...rules.slice(2).map(() => 'error')]);
    for (const { message } of found.slice(2)) expect(message).toMatch(/^the rule (fails|gives)/);
  });

  it('reads whole numbers of JSON as integers, and others as doubles', async () => {
    const change = sampleVariables(
      { resource: { spec: { count: 3, share: 0.5, big: 2 ** 53, list: [1, { n: 2 }] } } },
      sample.plan.time as string,
    );
    const found = await results(
      [
        'resource.spec.count + 1 == 4',
        'type(resource.spec.count) == int',
        'type(resource.spec.share) == double',
        'type(resource.spec.big) == double',
        'resource.spec.list[1].n + resource.spec.list[0] == 3',
      ],
      change,
    );
    expect(found).toEqual(found.map(() => ({ is: 'pass' })));
  });

  it('has the time of the plan, and its counts', async () => {
    const found = await results([
      'plan.time.getDayOfWeek() == 5 && plan.counts.create == 1 && plan.commit == null',
    ]);
    expect(found).toEqual([{ is: 'pass' }]);
  });

  it('is also a violation if its message is not a text, and reports that', async () => {
    const found = await results([
      { rule: 'false', message: '"no " + change.name' },
      { rule: 'false', message: '1 / 0' },
      { rule: 'false', message: '5' },
    ]);
    expect(found).toEqual([
      { is: 'violation', message: 'no sample' },
      { is: 'violation', message: expect.stringContaining('its message fails: ') },
      { is: 'violation', message: expect.stringContaining('its message fails: ') },
    ]);
  });

  it('that does not end is stopped, and it and all waiting rules are not evaluated', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const endless = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    const found = await results(['true', endless, 'true']);
    expect(found.slice(1).map(({ is }) => is)).toEqual(['not-evaluated', 'not-evaluated']);
    expect(found[1]?.message).toBe('the rules took more than 2 seconds together');
  });

  it('is not stopped while other processes use the processor', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const endless = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    // At the start, twice shortly before the end of the two seconds, and after it.
    const times = [0, 1990, 1999, 2001];
    const seen: number[] = [];
    const processorTime = () => {
      const time = times[seen.length] ?? 2001;
      seen.push(time);
      return time;
    };
    const job = { rules: [{ rule: endless }], changes: [sample], plan: {}, cases: [[0, 0] as const] };
    const { results: found } = await evaluate(job, { now: () => performance.now(), processorTime });
    expect(found[0]?.message).toBe('the rules took more than 2 seconds together');
    expect(seen.length).toBeGreaterThanOrEqual(4);
  });

  it('is evaluated after another rule was stopped, and at the same time as others', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const endless = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    const all = await Promise.all([results(['true']), results([endless]), results(['false'])]);
    expect(all.map(([result]) => result?.is)).toEqual(['pass', 'not-evaluated', 'violation']);
    const later = await Promise.all([results(['false']), results(['true'])]);
    expect(later.map(([result]) => result?.is)).toEqual(['violation', 'pass']);
  });

  it('is stopped after thirty times its time, even on a busy machine', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const endless = 'abcdef'.split('').reduce((inner, name) => `${list}.all(${name}, ${inner})`, 'true');
    let asked = 0;
    const now = () => {
      asked += 1;
      return asked === 1 ? 0 : 60_001;
    };
    const job = { rules: [{ rule: endless }], changes: [sample], plan: {}, cases: [[0, 0] as const] };
    const { results: found } = await evaluate(job, { now, processorTime: () => 0 });
    expect(found[0]?.is).toBe('not-evaluated');
  });

  it('that takes all memory of its thread is not evaluated, and trueup continues', async () => {
    const list = `[${Array.from({ length: 60 }, (_, index) => index).join(',')}]`;
    const large = 'abcde'.split('').reduce((inner, name) => `${list}.map(${name}, ${inner})`, '"text"');
    const [found] = await results([`size(${large}) > 0`]);
    expect(found?.is).toBe('not-evaluated');
  });
});

describe('An expression is refused when it is read', () => {
  it.each([
    ['change.adress == "a"', '"change" has no member "adress"; did you mean "address"?'],
    ['has(change.adress)', '"change" has no member "adress"; did you mean "address"?'],
    ['change["adress"] == "a"', '"change" has no member "adress"; did you mean "address"?'],
    ['"adress" in change', '"change" has no member "adress"; did you mean "address"?'],
    ['resource.spec.autoAply', '"resource.spec" has no member "autoAply"; did you mean "autoApply"?'],
    ['has(change.after.autoAply)', '"change.after" has no member "autoAply"; did you mean "autoApply"?'],
    [
      'resource.spec.vcsRepo.brnch == ""',
      '"resource.spec.vcsRepo" has no member "brnch"; did you mean "branch"?',
    ],
    ['change.fields.all(f, f.pth == "")', '"f" has no member "pth"; did you mean "path"?'],
    ['plan.counts.creates == 1', '"plan.counts" has no member "creates"; did you mean "create"?'],
    ['chnge.action == ""', 'there is no variable "chnge"; did you mean "change"?'],
    ['true || chnge.action == ""', 'there is no variable "chnge"; did you mean "change"?'],
  ])('because of a misspelt name: %s', async (rule, problem) => {
    expect(await problemsOf(rule)).toEqual([problem]);
  });

  it('if a function does not exist', async () => {
    expect(await problemsOf('lowercase("A") == "a"')).toEqual(['there is no function "lowercase"']);
  });

  it('if it has more than 4,096 bytes, or is not CEL', async () => {
    expect(await problemsOf(`"${'é'.repeat(2048)}" == ""`)).toEqual([
      'the expression has more than 4096 bytes',
    ]);
    expect(await problemsOf('change.action ==')).toEqual([expect.stringContaining('is not valid')]);
  });

  it.each([
    ['brackets', (depth: number) => `${'('.repeat(depth)}true${')'.repeat(depth)}`, 51],
    ['lists', (depth: number) => `${'['.repeat(depth)}1${']'.repeat(depth)} == []`, 51],
    ['members', (depth: number) => `resource.tags${'.a'.repeat(depth)} == 1`, 60],
    ['conditions', (depth: number) => `${'true ? true : '.repeat(depth)}true`, 60],
  ])('if it is nested too deeply: %s', async (_, make, depth) => {
    expect(await problemsOf(make(depth))).toEqual([expect.stringContaining('more than 50 levels deep')]);
    expect(await problemsOf(make(10))).toEqual([]);
  });

  it('but not because of brackets in a text', async () => {
    expect(await problemsOf(`"${'('.repeat(60)}" != ''`)).toEqual([]);
  });
});

it('Values of CEL equal those of JSON, with integers', () => {
  const back = (value: unknown): unknown =>
    typeof value === 'bigint'
      ? Number(value)
      : Array.isArray(value)
        ? value.map(back)
        : typeof value === 'object' && value !== null
          ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, back(member)]))
          : value;
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(back(toCel(value as Json))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
  fc.assert(fc.property(fc.maxSafeInteger(), (value) => typeof toCel(value) === 'bigint'));
});
